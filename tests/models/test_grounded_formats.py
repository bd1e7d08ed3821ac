"""How grounded models are asked and how long texts are cut, letter for letter as their makers do it."""

from ragmetrics_core.models.grounded import _formats as formats


def words(text):
    return len(text.split())


def test_minicheck_joins_sentences_up_to_the_size_and_keeps_line_breaks():
    # Liyan06/MiniCheck, minicheck/inference.py, commit 00a1ed40715ba11b9718ef251a3b0c493992944e:
    # sentences of 2, 3, 2 words and a line break, at most 5 words
    text = "Ada wrote. She lived here.\nBabbage built."

    assert formats.minicheck_chunks(text, size=5, count=words) == [
        "Ada wrote. She lived here.",
        "Babbage built.",
    ]
    assert formats.minicheck_chunks(text, size=50, count=words) == [text]


def test_a_sentence_beyond_the_size_is_a_chunk_of_its_own_and_no_chunk_is_empty():
    long = "One two three four five six."

    assert formats.minicheck_chunks(f"{long} Seven.", size=5, count=words) == [long, "Seven."]
    assert formats.minicheck_chunks(" \n ", size=5, count=words) == []
    assert formats.factcg_chunks(f"{long} Seven.", size=5) == [long, "Seven."]


def test_factcg_puts_each_sentence_on_a_line_and_counts_marks_as_words():
    # derenlei/FactCG, factcg/inference.py, commit 49748b92e3927d98d9a90e2931c177007f050de0:
    # "Ada wrote." has three tokens in NLTK's count, too
    text = "Ada wrote. She lived here. Babbage built."

    assert formats.factcg_chunks(text, size=7) == ["Ada wrote.\nShe lived here.", "Babbage built."]


def test_factcg_is_asked_in_its_makers_words():
    # derenlei/FactCG, factcg/utils.py, commit 4eb1537fd05a134d8af2e5bbab64dd5d12e86f08
    assert formats.factcg_text("D.", "C.") == (
        'D.\n\nChoose your answer: based on the paragraph above can we conclude that "C."?\n\n'
        "OPTIONS:\n- Yes\n- No\nI think the answer is "
    )


def test_bespoke_minicheck_is_asked_in_its_makers_words():
    # Liyan06/MiniCheck, minicheck/utils.py, commit f96efa7b0794ecb85a2977d7497c01135cf9e576
    assert formats.bespoke_question("D.", "C.") == "Document: D.\nClaim: C."
    assert formats.BESPOKE_SYSTEM == (
        "Determine whether the provided claim is consistent with the corresponding document. Consistency "
        "in this context implies that all information presented in the claim is substantiated by the "
        "document. If not, it should be considered inconsistent. Please assess the claim's consistency with "
        'the document by responding with either "Yes" or "No".'
    )


def test_granite_guardian_gets_its_block_with_the_criterion_of_groundedness():
    # ibm-granite/granite-guardian, evaluation/models/granite_guardian_4_1.py,
    # commit 1d6a7eaa0c983d4d157ac3b3e53a97b407f4f3e0
    first, criterion, schema = formats.GUARDIAN_BLOCK.split("\n\n")

    assert first == (
        "<guardian><no-think>As a judge agent, assess whether the provided text meets the given judging "
        "criteria using all available information, including conversations, documents, and tools. Provide "
        "your score immediately without explanation. Output empty <think>\n</think> tags followed by your "
        "score in <score></score> tags."
    )
    assert criterion == (
        "### Criteria: A text is considered ungrounded or unfaithful if it includes information lacking "
        "support from, or directly contradicting, the provided document(s). This risk arises when the text "
        "fabricates details, misinterprets the content, or makes unsupported extrapolations beyond what is "
        "explicitly stated in the document(s)."
    )
    assert schema == (
        "### Scoring Schema: If the last assistant's text meets the criteria, return 'yes'; otherwise, "
        "return 'no'."
    )


def test_lettucedetect_reads_numbered_passages_with_the_question_or_as_a_summary():
    # lettucedetect 0.2.3, lettucedetect/prompts/qa_prompt_en.txt and summary_prompt_en.txt
    assert formats.lettuce_prompt(["A.", "B."], "Where?") == (
        "Briefly answer the following question:\nWhere?\n"
        "Bear in mind that your response should be strictly based on the following 2 passages:\n"
        "passage 1: A.\npassage 2: B.\n"
        "In case the passages do not contain the necessary information to answer the question, please reply "
        'with: "Unable to answer based on given passages."\noutput:'
    )
    assert formats.lettuce_prompt(["A."], None) == "Summarize the following text:\npassage 1: A.\noutput:"


def test_lettucedetect_groups_whole_passages_into_what_fits_beside_the_answer():
    # the empty form has 7 words, the answer 1, marks 3: of 18 words 7 are left; a passage of two words has 4
    passages = ["a b", "c d", "e f g h i j k"]

    groups = formats.lettuce_groups(passages, None, "yes", longest=18, count=words)

    assert groups == [["a b"], ["c d"], ["e f g h i j k"]]
    assert formats.lettuce_groups(passages, None, "yes", longest=90, count=words) == [passages]
    assert formats.lettuce_groups(passages, None, "yes", longest=5, count=words) == [passages]
