"""Replay how a small model wrote and checked a test set on `examples/corpus`, without the model.

    pip install 'ragmetrics-core[cli,openai]'
    python examples/questions_replay.py FOLDER        # or: make questions

Qwen2.5-Coder-1.5B (4 bits, temperature 0), served by llama.cpp, wrote the questions. The judge `embedded`,
which needs no server, checks them; it cannot rate how a question is worded. The replies of the model are in
`examples/data/questions_journal.sqlite`, the cache of answered calls of that run: every reply is found by the
digest of its request, and all else is computed again. One reply could not be read and was not kept, so this
call fails here, too.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.questions import QuestionSet, generate_questions

EXAMPLES = Path(__file__).parent
JOURNAL = EXAMPLES / "data" / "questions_journal.sqlite"
# The address is a part of the calls' identity; nothing listens there.
SERVER = "http://127.0.0.1:37101/v1"


def main() -> None:
    """Write the test set, and print its questions and the reasons of what was dropped."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "folder", type=Path, nargs="?", default=Path("runs/questions"), help="of the test set"
    )
    given = options.parse_args()
    print("This is a replay of a run of Qwen2.5-Coder-1.5B from its journal: no model is called.\n")
    shutil.rmtree(given.folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        journal = shutil.copy(JOURNAL, folder)
        made = replayed(given.folder, journal)
    for question in made.questions:
        known = "known without documents" if question.labels.get("known_without_documents") else ""
        print(f"{question.labels['folder']:<10}{question.question}  {known}")
        print(f"{'':<10}{question.answer}")
        for quote in question.quotes:
            print(
                f"{'':<10}“{' '.join(quote.text.split())}” ({quote.document}, {quote.start} to {quote.end})"
            )
    print(f"\n{len(made)} questions kept, {len(made.dropped)} candidates dropped:")
    for reason, count in made.counts.items():
        print(f"  {count:>3}  {reason}")
    differences = made.audit()
    print(f"\nComputed again from the records: {'the same' if not differences else differences[0]}")
    print(f"More: ragmetrics questions report {given.folder} --out questions.html")


def replayed(folder: Path, journal: str) -> QuestionSet:
    """The test set, made with the replies of the journal."""
    judge = OpenAIJudge("qwen", base_url=SERVER, api_key="none", temperature=0, max_tokens=900)
    return generate_questions(
        EXAMPLES / "corpus",
        out=folder,
        judge=judge,
        checker="embedded",
        leave_out=("question_quality", "closed_book_accuracy"),
        per={"folder": 3},
        cache=journal,
        tries=1,
        attempts=1,
        progress=False,
    )


if __name__ == "__main__":
    main()
