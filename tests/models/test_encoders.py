"""Cross-encoders, token matching and entailment: the real loading code on tiny models made here.

No published weights are at hand, so the numbers mean nothing; what they must keep to does.
"""

import asyncio

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers", exc_type=ImportError)

from ragmetrics_core import as_judge, evaluate  # noqa: E402
from ragmetrics_core.drivers import audit  # noqa: E402
from ragmetrics_core.errors import ConfigError, ModelRefused  # noqa: E402
from ragmetrics_core.models import (  # noqa: E402
    CrossEncoderScorer,
    EntailmentJudge,
    TokenMatchScorer,
    as_scorer,
)

VOCABULARY = "the cat dog sat ran on mat in ulm danube einstein was born . ? where"
LONGEST = 32
PAIRS = [
    ("the cat sat", "the dog ran"),
    ("einstein was born in ulm .", "where was einstein born ?"),
    ("cat", "the cat sat on the mat in ulm"),
]
SAMPLE = {
    "id": "q1",
    "question": "where was einstein born ?",
    "answer": "einstein was born in ulm .",
    "reference": "in ulm",
    "contexts": ["einstein was born in ulm .", "the cat sat on the mat ."],
}


def tokenizer(folder):
    """A tokeniser that knows a few words."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *VOCABULARY.split()]
    file = folder / "vocab.txt"
    file.write_text("\n".join(vocabulary), encoding="utf-8")
    return transformers.BertTokenizerFast(vocab=str(file), model_max_length=LONGEST), len(vocabulary)


def saved(folder, kind="BertForSequenceClassification", **settings):
    """A model with random weights, saved as its library saves models."""
    folder.mkdir()
    made, size = tokenizer(folder)
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=size,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LONGEST,
        initializer_range=0.5,
        **settings,
    )
    getattr(transformers, kind)(config).save_pretrained(folder)
    made.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def similarity(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("models") / "similarity", num_labels=1)


@pytest.fixture(scope="module")
def entailment(tmp_path_factory):
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    return saved(tmp_path_factory.mktemp("models") / "nli", id2label=labels)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("models") / "encoder", kind="BertModel")


def rate(scorer, pairs=PAIRS):
    return asyncio.run(scorer.arate(pairs))


# -- cross-encoders


def test_a_cross_encoder_rates_each_pair_with_the_sigmoid_of_its_logit(similarity):
    ratings = rate(CrossEncoderScorer(model=similarity))

    model = transformers.AutoModelForSequenceClassification.from_pretrained(similarity).eval()
    made = transformers.AutoTokenizer.from_pretrained(similarity)
    with torch.inference_mode():
        expected = [model(**made(*pair, return_tensors="pt")).logits[0, 0].sigmoid().item() for pair in PAIRS]
    assert ratings == pytest.approx(expected, abs=1e-6)
    assert len({round(rating, 4) for rating in ratings}) == 3


def test_a_rating_does_not_depend_on_the_other_pairs_of_its_batch(similarity):
    together = rate(CrossEncoderScorer(model=similarity))
    alone = [rate(CrossEncoderScorer(model=similarity, batch_size=1), [pair])[0] for pair in PAIRS]
    assert together == pytest.approx(alone, abs=1e-6)


def test_of_several_labels_the_named_one_counts(entailment):
    ratings = [
        rate(CrossEncoderScorer(model=entailment, label=label))[0]
        for label in ("contradiction", "Entailment", 2)
    ]
    assert sum(ratings) == pytest.approx(1.0)


def test_a_label_that_the_model_does_not_have_is_refused_with_those_it_has(entailment):
    for label in (None, "equivalent"):
        with pytest.raises(ModelRefused, match="has the labels contradiction, entailment, neutral"):
            rate(CrossEncoderScorer(model=entailment, label=label))


def test_a_text_that_is_too_long_is_refused_with_its_length_and_the_limit(similarity):
    pair = ("the cat " * 50_000, "the dog")
    # 100,000 words, 2 words, [CLS] and twice [SEP]
    with pytest.raises(ModelRefused, match=r"a text of 100,005 tokens, and .* takes 32"):
        rate(CrossEncoderScorer(model=similarity), [pair])


def test_what_is_cut_on_request_is_said_in_the_identity(similarity):
    scorer = CrossEncoderScorer(model=similarity, too_long="cut")
    assert ",cut at its limit" in scorer.identity
    assert 0 < rate(scorer, [("the cat " * 100, "the dog")])[0] < 1


def test_the_identity_follows_the_weights_and_not_the_folder(similarity, tmp_path):
    other = saved(tmp_path / "similarity", num_labels=1, hidden_act="relu")
    one, two = (CrossEncoderScorer(model=model).identity for model in (similarity, other))
    assert one.startswith("cross-encoder:similarity@")
    assert one != two


def test_a_model_that_is_not_there_fails_the_sample_and_not_the_run(tmp_path):
    scorer = CrossEncoderScorer(model=str(tmp_path / "nowhere"))
    (record,) = evaluate([SAMPLE], metrics="sas", scorer=scorer).records()
    assert record.status == "model_error"
    assert "cannot be loaded" in record.reason


# -- token matching


def test_token_matching_is_the_mean_of_each_tokens_best_cosine(encoder):
    (rating,) = rate(TokenMatchScorer(model=encoder), PAIRS[:1])

    model = transformers.AutoModel.from_pretrained(encoder).eval()
    made = transformers.AutoTokenizer.from_pretrained(encoder)
    with torch.inference_mode():
        rows = [
            torch.nn.functional.normalize(
                model(**made(text, return_tensors="pt")).last_hidden_state[0], dim=1
            )
            for text in PAIRS[0]
        ]
    # without [CLS] and [SEP]
    cosines = rows[0][1:-1] @ rows[1][1:-1].T
    assert rating == pytest.approx(cosines.max(dim=1).values.mean().item(), abs=1e-6)


def test_another_layer_has_other_numbers_and_a_missing_one_is_refused(encoder):
    first, last = (rate(TokenMatchScorer(model=encoder, layer=layer)) for layer in (1, None))
    assert first != pytest.approx(last)
    with pytest.raises(ModelRefused, match="has layers 1 to 3, not 4"):
        rate(TokenMatchScorer(model=encoder, layer=4))


def test_a_text_without_a_token_matches_nothing(encoder):
    assert rate(TokenMatchScorer(model=encoder), [("", "the cat"), ("the cat", "")]) == [0.0, 0.0]


def test_bert_score_is_the_f1_of_both_directions_and_is_proved_from_its_record(encoder):
    run = evaluate([SAMPLE], metrics="bert_score", scorer=TokenMatchScorer(model=encoder))
    score = run.score("q1", "bert_score")
    precision, recall = rate(
        TokenMatchScorer(model=encoder),
        [(SAMPLE["answer"], SAMPLE["reference"]), (SAMPLE["reference"], SAMPLE["answer"])],
    )

    assert score.value == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)
    assert audit(score) == []
    assert score.scorer.startswith("token-match:encoder@")


# -- entailment as a judge


def test_an_entailment_model_gives_the_verdicts_and_another_judge_the_statements(entailment):
    scorer = CrossEncoderScorer(model=entailment, label="entailment")
    judge = EntailmentJudge(scorer=scorer, others=as_judge("embedded"))
    record = evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness")

    (verdict,) = record.verdicts
    best = max(scorer.rate([(chunk, verdict.text) for chunk in SAMPLE["contexts"]]))
    assert verdict.supported == (best >= 0.5)
    assert verdict.reason == f"entailed with probability {best:.3f}"
    assert audit(record) == []
    assert "threshold 0.5,others embedded:support.5+vectors" in record.judge


def test_without_another_judge_a_prompt_for_statements_is_a_mistake_before_the_run(entailment):
    judge = EntailmentJudge(scorer=CrossEncoderScorer(model=entailment, label="entailment"))
    with pytest.raises(ConfigError, match="an entailment model cannot answer the prompt 'statements'"):
        evaluate([SAMPLE], metrics="faithfulness", judge=judge)
    # citations are sentences of the answer: they need no other judge
    row = {**SAMPLE, "answer": "einstein was born in ulm [1] ."}
    assert next(iter(evaluate([row], metrics="citation_recall", judge=judge).records())).status == "ok"


# -- names and settings


def test_scorers_and_the_judge_have_names(similarity):
    assert isinstance(as_scorer(f"cross-encoder:{similarity}"), CrossEncoderScorer)
    assert isinstance(as_scorer(f"token-match:{similarity}"), TokenMatchScorer)
    assert isinstance(as_judge(f"entailment:{similarity}"), EntailmentJudge)
    with pytest.raises(ConfigError, match="there is no scorer 'bm25'"):
        as_scorer("bm25")


@pytest.mark.parametrize("settings", [{"batch_size": 0}, {"longest": 1}])
def test_impossible_settings_are_a_mistake(settings):
    with pytest.raises(ConfigError, match="batch_size must be at least 1 and longest at least 4"):
        CrossEncoderScorer(model="any", **settings)
