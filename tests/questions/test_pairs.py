"""Passages are paired by the rare terms that both have."""

from ragmetrics_core.questions import Passage, rare_pairs

FILLER = (
    "Every spring the river rises slowly behind these houses.",
    "Some people walk along its banks at noon.",
    "Others prefer sitting inside and tea.",
    "Nobody knows when it will end.",
    "Boats pass quietly under bridges.",
)


def passage(document, text, start=0):
    return Passage(document=document, start=start, end=start + len(text), text=text)


def test_names_and_measures_come_before_words_and_are_shown_as_written():
    passages = [
        passage("a", f"{FILLER[0]} It was built by Karl Benz and 750 W."),
        passage("b", f"{FILLER[1]} They knew Karl Benz and his curious engine."),
        passage("c", f"{FILLER[2]} Now 750 W and Karl Benz are famous."),
        passage("d", f"{FILLER[3]} What a curious view."),
        passage("e", FILLER[4]),
    ]
    pairs = rare_pairs(passages)
    # "Karl Benz" is in three of five passages, which is not rare; 2 % of five are less than two
    assert [(pair.first.document, pair.second.document, pair.shared) for pair in pairs] == [
        ("a", "c", ("750 W",)),
        ("b", "d", ("curious",)),
    ]


def test_a_name_is_one_term():
    passages = [
        passage("a", f"{FILLER[0]} It was built by Karl Benz."),
        passage("b", f"{FILLER[1]} They knew Karl Benz well."),
        passage("c", FILLER[2]),
    ]
    assert [pair.shared for pair in rare_pairs(passages)] == [("Karl Benz",)]


def test_passages_of_one_document_are_three_apart():
    texts = [f"{filler} It is Benz." if place in (0, 2) else filler for place, filler in enumerate(FILLER)]
    assert rare_pairs([passage("a", text, place) for place, text in enumerate(texts)]) == []
    texts = [f"{filler} It is Benz." if place in (0, 3) else filler for place, filler in enumerate(FILLER)]
    assert [pair.shared for pair in rare_pairs([passage("a", text) for text in texts])] == [("Benz",)]


def test_copies_are_not_paired():
    passages = [passage(str(number), "The same Karl Benz in both texts.") for number in range(2)]
    assert rare_pairs([*passages, passage("c", FILLER[0])]) == []


def test_texts_without_spaces_share_runs_of_characters():
    passages = [
        passage("a", "横浜の港から最初の蒸気機関車が運ばれて来た。"),
        passage("b", "鉄道博物館では古い蒸気機関車を見られる。"),
        passage("c", "今日は雨が降っている。"),
    ]
    assert [pair.shared for pair in rare_pairs(passages)] == [("蒸気機関車",)]


def test_no_rare_term_means_no_pairs():
    assert rare_pairs([]) == []
    assert rare_pairs([passage("a", FILLER[0]), passage("b", FILLER[1])]) == []


def test_passages_take_turns():
    # By shared names, "a" and "b" are first with three, "a" and "c" second with two, "d" and "e" third.
    passages = [
        passage("a", f"{FILLER[0]} It met Volta, Tesla, Ohm, Hertz, Weber."),
        passage("b", f"{FILLER[1]} It met Volta, Tesla, Ohm."),
        passage("c", f"{FILLER[2]} It met Hertz, Weber."),
        passage("d", f"{FILLER[3]} It is Gauss."),
        passage("e", f"{FILLER[4]} It is Gauss."),
    ]
    pairs = [(pair.first.document, pair.second.document) for pair in rare_pairs(passages)]
    assert pairs == [("a", "b"), ("d", "e"), ("a", "c")]
