"""What a sample is: its id, its digest, what makes two samples the same, and the views of it."""

import copy
import hashlib
import pickle
from dataclasses import fields

import pytest
from pydantic import ValidationError

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.samples import (
    Answered,
    Attributed,
    Compared,
    Complete,
    Grounded,
    MissingField,
    Referenced,
    ReferencedContexts,
    Retrieved,
    Sample,
    Turn,
)

VIEWS = [Answered, Attributed, Compared, Complete, Grounded, Referenced, ReferencedContexts, Retrieved]

FULL = Sample(
    id="q1",
    question="Where?",
    answer="Here.",
    contexts=("It is here.",),
    reference="Here.",
    history=(Turn(role="user", content="Hi"),),
    language="en",
    labels={"model": "m", "correct": True, "rating": 4.0, "note": None},
)


def test_the_digest_is_the_sha256_of_the_content_as_sorted_compact_json():
    # written out by hand: other programs must be able to recompute it
    content = '{"answer":"H\\u00e9re.","contexts":["a","b"],"question":"Where?"}'
    sample = Sample(id="x", question="Where?", answer="Hére.", contexts=("a", "b"), labels={"k": 1})
    assert sample.digest == hashlib.sha256(content.encode()).hexdigest()


def test_an_id_that_is_not_given_comes_from_the_content():
    sample = Sample(question="Where?", answer="Here.")
    assert sample.id == "s-" + sample.digest[:16]
    assert sample.has_derived_id
    assert not FULL.has_derived_id


def test_a_derived_id_includes_the_labels_and_follows_changes_at_its_occurrence():
    sample = Sample(question="Where?", labels={"system": "a"})
    assert sample.id != Sample(question="Where?").id
    assert sample.id != Sample(question="Where?", labels={"system": "b"}).id
    third = sample.at_occurrence(3)
    assert third.id == f"{sample.id}-3"
    assert third.has_derived_id
    changed = third.model_copy(update={"answer": "Here."})
    assert changed.id == Sample(question="Where?", answer="Here.", labels={"system": "a"}).id + "-3"


def test_labels_and_id_do_not_change_the_digest():
    assert Sample(id="a", question="Q", labels={"model": "x"}).digest == Sample(id="b", question="Q").digest


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "q"},
        {"answer": ""},
        {"contexts": ()},
        {"contexts": ("b", "a")},
        {"reference": "r"},
        {"references": ("r", "s")},
        {"reference_contexts": ("a",)},
        {"context_ids": ("1",)},
        {"reference_context_ids": ("1",)},
        {"history": (Turn(role="user", content="Hi"),)},
        {"language": "en"},
    ],
    ids=str,
)
def test_any_change_of_the_content_changes_the_id(changed):
    original = Sample(question="Q", contexts=("a", "b"))
    assert original.model_copy(update=changed).id != original.id


def test_a_changed_copy_keeps_a_given_id_and_gets_its_own_digest():
    changed = FULL.model_copy(update={"answer": "There."})
    assert changed.id == "q1"
    assert changed.digest == Sample(**{**dict(FULL), "answer": "There."}).digest != FULL.digest


@pytest.mark.parametrize(
    ("fields", "reference"),
    [
        ({"references": ("first", "second")}, "first"),
        ({"reference": "given", "references": ("first",)}, "given"),
        ({"references": ()}, None),
    ],
)
def test_the_reference_is_the_given_one_or_the_first_of_several_also_in_a_changed_copy(fields, reference):
    sample = Sample(question="Q", **fields)
    assert sample.reference == reference
    assert sample.model_copy(update={"answer": "x"}).reference == reference
    changed = sample.model_copy(update={"references": ("other",)})
    assert changed.reference == ("given" if reference == "given" else "other")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ground_truth": "R"}, "Extra inputs are not permitted"),
        # not taken letter by letter
        ({"contexts": "text"}, "Input should be a valid tuple"),
        ({"labels": {"rating": float("nan")}}, "finite"),
        ({"labels": {"rating": float("inf")}}, "finite"),
        ({"answer": 42}, "Input should be a valid string"),
    ],
)
def test_what_a_sample_cannot_be_is_refused_also_in_a_changed_copy(fields, message):
    with pytest.raises(ValidationError, match=message):
        Sample(question="Q", **fields)
    with pytest.raises(ValidationError, match=message):
        FULL.model_copy(update=fields)


@pytest.mark.parametrize("name", ["id", "question", "labels"])
def test_a_sample_cannot_be_changed(name):
    with pytest.raises(ValidationError, match="frozen"):
        setattr(FULL, name, "new")


def test_truth_values_in_labels_stay_truth_values():
    labels = Sample(question="Q", labels={"correct": True, "rank": 1}).labels
    assert [type(value) for value in labels.values()] == [bool, float]


@pytest.mark.parametrize(
    "through",
    [
        lambda s: Sample.model_validate_json(s.model_dump_json()),
        lambda s: Sample.from_mapping(s.model_dump()),
        lambda s: Sample.from_mapping(dict(s)),
        lambda s: pickle.loads(pickle.dumps(s)),
        copy.deepcopy,
    ],
    ids=["json", "from_mapping", "dict", "pickle", "deepcopy"],
)
@pytest.mark.parametrize("sample", [FULL, Sample(question="Q", references=("r",))], ids=["full", "derived"])
def test_a_sample_comes_back_as_it_was(through, sample):
    assert sample.digest
    again = through(sample)
    assert again == sample
    assert again.digest == sample.digest
    assert hash(again) == hash(sample)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_takes_its_fields_from_a_complete_sample(view):
    full = FULL.model_copy(update={"references": ("Here.", "At home.")})
    taken = view.of(full)
    assert {f.name: getattr(taken, f.name) for f in fields(view)} == {
        name: getattr(full, name) for name in (*view.required(), *view.optional())
    }


@pytest.mark.parametrize(("view", "name"), [(v, n) for v in VIEWS for n in v.required()])
def test_a_view_names_the_field_that_is_missing(view, name):
    without = FULL.model_copy(update={name: None})
    with pytest.raises(MissingField) as caught:
        view.of(without)
    assert caught.value.field == name
    assert str(caught.value) == f"the sample has no {name}"


def test_the_required_fields_of_the_views():
    assert {view.__name__: view.required() for view in VIEWS} == {
        "Answered": ("question", "answer"),
        "Attributed": ("question", "contexts", "reference"),
        "Compared": ("answer", "reference"),
        "Complete": ("question", "answer", "contexts", "reference"),
        "Grounded": ("question", "answer", "contexts"),
        "Referenced": ("question", "answer", "reference"),
        "ReferencedContexts": ("contexts", "reference"),
        "Retrieved": ("question", "contexts"),
    }


def test_an_empty_answer_and_empty_contexts_are_present():
    view = Grounded.of(Sample(question="", answer="", contexts=()))
    assert (view.question, view.answer, view.contexts) == ("", "", ())


def test_a_missing_field_is_a_mistake_in_the_data_and_survives_another_process():
    error = pickle.loads(pickle.dumps(MissingField("reference")))
    assert isinstance(error, SampleError)
    assert isinstance(error, ConfigError)
    assert (error.field, str(error)) == ("reference", "the sample has no reference")
