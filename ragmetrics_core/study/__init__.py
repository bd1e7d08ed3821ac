"""Statistics over finished runs.

Functions take `Scores` (from `read_scores`) or plain numbers and return results with n, intervals and the
samples left out; `*_tables` turn results into tables. Requires scipy (extra `study`).
"""

from ragmetrics_core.study._abstention import AbstentionStudy, abstention_tables, study_abstention
from ragmetrics_core.study._agreement import HUMAN, Agreement, agreement_tables, study_agreement
from ragmetrics_core.study._annotation import (
    Annotations,
    Sheet,
    annotation_tables,
    item_name,
    items_of,
    judge_accuracy,
    ratings_of,
    read_annotations,
    verdict_changes,
)
from ragmetrics_core.study._calibration import (
    CalibrationMethod,
    CalibrationStudy,
    calibrate,
    calibration_tables,
)
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._coefficients import (
    Correlation,
    compare_correlations,
    correlate,
    kendall_figure,
    pooled_correlation,
    spearman_figure,
)
from ragmetrics_core.study._comparison import (
    PairedMetric,
    RunComparison,
    compare_runs,
    comparison_tables,
)
from ragmetrics_core.study._consensus import Consensus, Rule, consensus_of, rule_of
from ragmetrics_core.study._contradictions import contradictions, stance_tables
from ragmetrics_core.study._detection import calibration, reliability_bar
from ragmetrics_core.study._estimates import Estimate, Summary, mean_of, score_mean, wilson_interval
from ragmetrics_core.study._funnel import Funnel, funnel_tables, study_funnel
from ragmetrics_core.study._gating import (
    FailIf,
    GateVerdict,
    Limit,
    beyond,
    decide,
    decide_limits,
    doubts_of_mean,
    gate_tables,
    limit_of,
    missed_limit,
    near,
)
from ragmetrics_core.study._groups import GroupStudy, group_tables, study_groups
from ragmetrics_core.study._human_labels import (
    HumanLabel,
    Judgement,
    LabelledUnit,
    LabelledUnits,
    corrected_verdicts,
    good_values,
    is_good,
    labelled_correct,
    labelled_verdicts,
    likert_threshold,
    on_unit_scale,
    read_labels,
    read_units,
    scale_of,
)
from ragmetrics_core.study._items import ItemStudy, item_tables, study_items
from ragmetrics_core.study._judge_errors import JudgeErrors, corrected_mean, judge_errors
from ragmetrics_core.study._kendall_of_systems import system_correlation
from ragmetrics_core.study._label_vocabulary import LabelKind, Question, reading_of
from ragmetrics_core.study._labelled_samples import (
    Labelled,
    LabelledPair,
    LabelledSet,
    limited,
    read_labelled,
)
from ragmetrics_core.study._matrix import CorrelationMatrix, PairCorrelation, matrix_tables, study_matrix
from ragmetrics_core.study._metric_comparison import compare_metrics
from ragmetrics_core.study._metrics_against_people import PeopleStudy, people_tables, study_people
from ragmetrics_core.study._pairs import doubts_of
from ragmetrics_core.study._pairwise import PreferenceStudy, preference_tables, study_preferences
from ragmetrics_core.study._planning import SizePlan, plan_study, plan_tables
from ragmetrics_core.study._powered import (
    PoweredComparison,
    powered_runs,
    powered_tables,
)
from ragmetrics_core.study._quality import QualityEstimate, estimate_quality, estimate_tables
from ragmetrics_core.study._reliability import krippendorff_alpha
from ragmetrics_core.study._repeats import (
    RepeatStudy,
    judge_share,
    repeat_tables,
    repeats_needed,
    study_repeats,
)
from ragmetrics_core.study._resampling import Figure, bootstrap, divided, drawn_units
from ragmetrics_core.study._retrieval import RetrievalStudy, first_hits, retrieval_tables, study_retrieval
from ragmetrics_core.study._scores import Scores, named_runs, read_scores
from ragmetrics_core.study._system_comparison import (
    ComparedSystem,
    SystemComparison,
    SystemPair,
    compare_systems,
    letter_groups,
    system_comparison_tables,
)
from ragmetrics_core.study._system_ranking import SystemStudy, study_systems, system_tables, systems_of
from ragmetrics_core.study._tables import (
    Cell,
    Column,
    Mark,
    Marked,
    StudyTable,
    TableColumn,
    flat,
    plain_table,
    short,
    shown,
    table_of,
)
from ragmetrics_core.study._trace import TraceDifference, trace_difference, trace_tables
from ragmetrics_core.study._trend import Trend, TrendPoint, study_trend, trend_tables

__all__ = [
    "HUMAN",
    "AbstentionStudy",
    "Agreement",
    "Annotations",
    "CalibrationMethod",
    "CalibrationStudy",
    "Cell",
    "Clustering",
    "Column",
    "ComparedSystem",
    "Consensus",
    "Correlation",
    "CorrelationMatrix",
    "Estimate",
    "FailIf",
    "Figure",
    "Funnel",
    "GateVerdict",
    "GroupStudy",
    "HumanLabel",
    "ItemStudy",
    "JudgeErrors",
    "Judgement",
    "LabelKind",
    "Labelled",
    "LabelledPair",
    "LabelledSet",
    "LabelledUnit",
    "LabelledUnits",
    "Limit",
    "Mark",
    "Marked",
    "PairCorrelation",
    "PairedMetric",
    "PeopleStudy",
    "PoweredComparison",
    "PreferenceStudy",
    "QualityEstimate",
    "Question",
    "RepeatStudy",
    "RetrievalStudy",
    "Rule",
    "RunComparison",
    "Scores",
    "Sheet",
    "SizePlan",
    "StudyTable",
    "Summary",
    "SystemComparison",
    "SystemPair",
    "SystemStudy",
    "TableColumn",
    "TraceDifference",
    "Trend",
    "TrendPoint",
    "abstention_tables",
    "agreement_tables",
    "annotation_tables",
    "beyond",
    "bootstrap",
    "calibrate",
    "calibration",
    "calibration_tables",
    "clustering_of",
    "compare_correlations",
    "compare_metrics",
    "compare_runs",
    "compare_systems",
    "comparison_tables",
    "consensus_of",
    "contradictions",
    "corrected_mean",
    "corrected_verdicts",
    "correlate",
    "decide",
    "decide_limits",
    "divided",
    "doubts_of",
    "doubts_of_mean",
    "drawn_units",
    "estimate_quality",
    "estimate_tables",
    "first_hits",
    "flat",
    "funnel_tables",
    "gate_tables",
    "good_values",
    "group_tables",
    "is_good",
    "item_name",
    "item_tables",
    "items_of",
    "judge_accuracy",
    "judge_errors",
    "judge_share",
    "kendall_figure",
    "krippendorff_alpha",
    "labelled_correct",
    "labelled_verdicts",
    "letter_groups",
    "likert_threshold",
    "limit_of",
    "limited",
    "matrix_tables",
    "mean_of",
    "missed_limit",
    "named_runs",
    "near",
    "on_unit_scale",
    "people_tables",
    "plain_table",
    "plan_study",
    "plan_tables",
    "pooled_correlation",
    "powered_runs",
    "powered_tables",
    "preference_tables",
    "ratings_of",
    "read_annotations",
    "read_labelled",
    "read_labels",
    "read_scores",
    "read_units",
    "reading_of",
    "reliability_bar",
    "repeat_tables",
    "repeats_needed",
    "retrieval_tables",
    "rule_of",
    "scale_of",
    "score_mean",
    "short",
    "shown",
    "spearman_figure",
    "stance_tables",
    "study_abstention",
    "study_agreement",
    "study_funnel",
    "study_groups",
    "study_items",
    "study_matrix",
    "study_people",
    "study_preferences",
    "study_repeats",
    "study_retrieval",
    "study_systems",
    "study_trend",
    "system_comparison_tables",
    "system_correlation",
    "system_tables",
    "systems_of",
    "table_of",
    "trace_difference",
    "trace_tables",
    "trend_tables",
    "verdict_changes",
    "wilson_interval",
]
