"""Grounded judges: the whole way through, with the real libraries, on tiny models made here.

No published weights are at hand, so the numbers mean nothing; what they must keep to does.
"""

import asyncio

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers", exc_type=ImportError)

from ragmetrics_core import as_judge, evaluate  # noqa: E402
from ragmetrics_core.drivers import audit  # noqa: E402
from ragmetrics_core.errors import ConfigError, ModelRefused  # noqa: E402
from ragmetrics_core.models.grounded import FactCG, GroundedJudge, LettuceDetect, MiniCheck  # noqa: E402
from ragmetrics_embedded import LexicalJudge  # noqa: E402

WORDS = ["the", "cat", "sat", "on", "mat", "einstein", "was", "born"]
WORDS += ["in", "ulm", "paris", ".", "passage", "1"]
SAMPLE = {
    "id": "q1",
    "question": "where was einstein born ?",
    "answer": "Einstein was born in Ulm. The cat sat.",
    "contexts": ["Einstein was born in Ulm.", "The cat sat on the mat."],
}
TEXTS = ["einstein was born in ulm .", "the cat sat on the mat ."]
CLAIMS = ["einstein was born in paris .", "the cat sat ."]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def saved(folder, config, kind):
    """A model with random weights and a tokeniser of a few words, saved as their library saves them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate([*special, *WORDS])}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("[SEP]", "isolated"), pre_tokenizers.BertPreTokenizer()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        eos_token="[SEP]",
    ).save_pretrained(folder)
    torch.manual_seed(3)
    getattr(transformers, kind)(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tiny model of each architecture, by the name that tells its form."""
    top = tmp_path_factory.mktemp("grounded")
    size = {"vocab_size": 300, "initializer_range": 0.6, **SIZES}
    roberta = transformers.RobertaConfig(max_position_embeddings=600, pad_token_id=0, **size)
    deberta = transformers.DebertaV2Config(
        max_position_embeddings=600, relative_attention=True, pos_att_type=["p2c", "c2p"], **size
    )
    t5 = transformers.T5Config(
        vocab_size=300, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0,
        initializer_factor=3.0,
    )  # fmt: skip
    modern = transformers.ModernBertConfig(
        max_position_embeddings=512, pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2,
        eos_token_id=3, **size,
    )  # fmt: skip
    classifier = "ForSequenceClassification"
    return {
        "roberta": saved(top / "MiniCheck-RoBERTa", roberta, f"Roberta{classifier}"),
        "deberta": saved(top / "MiniCheck-DeBERTa", deberta, f"DebertaV2{classifier}"),
        "flan-t5": saved(top / "MiniCheck-Flan-T5", t5, "T5ForConditionalGeneration"),
        "factcg": saved(top / "FactCG-DeBERTa", deberta, f"DebertaV2{classifier}"),
        "lettuce": saved(top / "lettucedetect-base", modern, "ModernBertForTokenClassification"),
    }


@pytest.mark.parametrize("name", ["roberta", "deberta", "flan-t5", "factcg", "lettuce"])
def test_each_model_gives_verdicts_with_probabilities_that_the_record_proves(models, name):
    run = evaluate([SAMPLE], metrics="faithfulness", judge=f"grounded:{models[name]}")

    (record,) = run.records()
    assert record.status == "ok", record.reason
    assert audit(record) == []
    assert len(record.verdicts) == 2
    assert all(0 <= verdict.confidence <= 1 for verdict in record.verdicts)
    assert all(verdict.supported == (verdict.confidence > 0.5) for verdict in record.verdicts)


@pytest.mark.parametrize("kind", ["roberta", "deberta"])
def test_minicheck_is_the_softmax_of_chunk_and_statement_with_the_end_token_between_them(models, kind):
    made = MiniCheck(model=models[kind], kind=kind)
    tokens = made.tokenizer("\n".join(TEXTS) + "[SEP]" + CLAIMS[0], return_tensors="pt")
    logits = transformers.AutoModelForSequenceClassification.from_pretrained(models[kind])(**tokens).logits

    (found,) = made.check(CLAIMS[:1], TEXTS)

    assert found.probability == pytest.approx(logits.softmax(dim=-1)[0, 1].item(), abs=1e-5)


def test_minicheck_t5_weighs_the_two_tokens_that_its_answer_begins_with(models):
    made = MiniCheck(model=models["flan-t5"], kind="flan-t5")
    tokens = made.tokenizer("predict: " + "\n".join(TEXTS) + "[SEP]" + CLAIMS[0], return_tensors="pt")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(models["flan-t5"])
    logits = model(**tokens, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits

    (found,) = made.check(CLAIMS[:1], TEXTS)

    assert found.probability == pytest.approx(logits[0, 0, [3, 209]].softmax(dim=-1)[1].item(), abs=1e-5)


@pytest.mark.parametrize("name", ["roberta", "flan-t5", "factcg"])
def test_of_a_long_text_the_chunk_that_supports_most_counts(models, name):
    made = FactCG(model=models[name]) if name == "factcg" else MiniCheck(model=models[name], kind=name)
    texts = ["The cat sat on the mat. " * 120, "Einstein was born in Ulm. " * 120]

    (found,) = made.check(CLAIMS[:1], texts)

    chunks = made.chunks("\n".join(texts))
    alone = [made.check(CLAIMS[:1], [chunk])[0].probability for chunk in chunks]
    assert len(chunks) > 1
    assert found.probability == pytest.approx(max(alone), abs=1e-5)


def test_a_finding_does_not_depend_on_the_other_statements(models):
    made = MiniCheck(model=models["roberta"], kind="roberta", batch_size=2)

    together = made.check([*CLAIMS, CLAIMS[0] * 5], TEXTS)

    assert [each.probability for each in together[:2]] == pytest.approx(
        [made.check([claim], TEXTS)[0].probability for claim in CLAIMS], abs=1e-5
    )


def test_lettucedetect_marks_words_of_the_answer_and_a_marked_statement_is_not_supported(models):
    made = LettuceDetect(model=models["lettuce"])

    findings = asyncio.run(made.acheck(CLAIMS, TEXTS, None))

    for claim, finding in zip(CLAIMS, findings, strict=True):
        spans = made.spans(claim, TEXTS)
        assert finding.supported == (not spans)
        assert finding.probability == pytest.approx(
            1 - max([each.probability for each in spans], default=0)
        ) or (finding.probability > 0.5)
        for span in spans:
            assert claim[span.start : span.end].strip() in finding.reason


def test_passages_that_do_not_fit_are_read_in_groups_and_the_highest_mark_counts(models):
    made = LettuceDetect(model=models["lettuce"], longest=28)
    alone = LettuceDetect(model=models["lettuce"])
    passages = ["the cat sat on the mat .", "einstein was born in ulm ."]

    in_groups = made._tokens(CLAIMS[0], passages, None)
    read = [alone._tokens(CLAIMS[0], [passage], None) for passage in passages]

    assert [each.probability for each in in_groups] == pytest.approx(
        [max(each.probability for each in same) for same in zip(*read, strict=True)], abs=1e-5
    )


def test_without_any_text_nothing_is_supported(models):
    for made in (MiniCheck(model=models["roberta"], kind="roberta"), LettuceDetect(model=models["lettuce"])):
        (found,) = asyncio.run(made.acheck(["the cat sat ."], [], None))
        assert (found.supported, found.probability) == (False, 0.0)


def test_another_judge_splits_the_answer_and_without_one_that_is_a_mistake_before_the_run(models):
    alone = GroundedJudge(checker=FactCG(model=models["factcg"]))

    with pytest.raises(ConfigError, match="cannot answer the prompt 'statements'"):
        evaluate([SAMPLE], metrics="faithfulness", judge=alone)
    named = as_judge(f"grounded:{models['factcg']}")
    assert isinstance(named.others, LexicalJudge)
    assert named.identity.startswith("grounded:factcg:FactCG-DeBERTa@")


@pytest.mark.parametrize("name", ["some-bert", "MiniCheck-XXL", "factcg@http://127.0.0.1:1/v1"])
def test_a_name_that_tells_no_form_is_a_mistake(name):
    with pytest.raises(ConfigError, match="is not a grounded model"):
        as_judge(f"grounded:{name}")


def test_no_code_that_comes_with_a_model_is_run(models, tmp_path):
    import json
    import shutil

    folder = tmp_path / "FactCG-foreign"
    shutil.copytree(models["factcg"], folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    auto = {"AutoConfig": "own.OwnConfig", "AutoModelForSequenceClassification": "own.OwnModel"}
    (folder / "config.json").write_text(
        json.dumps({**config, "model_type": "own", "auto_map": auto}), encoding="utf-8"
    )
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")

    with pytest.raises(ModelRefused):
        FactCG(model=str(folder)).check(CLAIMS[:1], TEXTS)

    assert not (tmp_path / "ran").exists()


def test_marked_words_are_evidence_with_their_place_in_the_answer(models):
    run = evaluate([SAMPLE], metrics="faithfulness", judge=f"grounded:{models['lettuce']}")

    (record,) = run.records()
    marked = [each for verdict in record.verdicts for each in verdict.evidence]
    assert marked
    assert audit(record) == []
    for each in marked:
        assert each.source == "answer"
        if each.span is not None:  # two letters are too few to be sure of a place
            assert SAMPLE["answer"][each.span.start : each.span.end].casefold() == each.quote.casefold()
    assert any(each.span for each in marked)
