"""A test set of ragas' TestsetGenerator on a few documents, by the python of an environment with ragas.

    python -m benchmarks.ragas_questions DOCUMENTS.jsonl QUESTIONS.jsonl --base-url URL [--size 10]

Needs ragas, langchain-community<0.4, langchain-openai and wordllama, whose word vectors are the embeddings.
Without a network, TIKTOKEN_CACHE_DIR must have the tokenizers of tiktoken; llama-index-core has them in
`_static/tiktoken_cache`. Prints the time, and the error if there is one. Imports nothing of this library.
"""

import argparse
import json
import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Generate once and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path, help="documents, one JSON object a line")
    parser.add_argument("out", type=Path, help="file for the questions")
    parser.add_argument("--base-url", required=True, help="address of the model's server")
    parser.add_argument("--model", default="qwen")
    parser.add_argument("--documents", type=int, default=5, help="number of documents, from the first on")
    parser.add_argument("--size", type=int, default=10, help="number of questions")
    given = parser.parse_args()
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
    # By name: the type checker's environment has none of them.
    testset, run_config = import_module("ragas.testset"), import_module("ragas.run_config")
    langchain, core = import_module("langchain_openai"), import_module("langchain_core.documents")
    rows = [json.loads(line) for line in given.source.read_text(encoding="utf-8").splitlines()]
    documents = [
        core.Document(page_content=row["text"], metadata={"id": row["id"]}) for row in rows[: given.documents]
    ]
    llm = langchain.ChatOpenAI(
        model=given.model, base_url=given.base_url, api_key="-", temperature=0, max_tokens=900, timeout=900
    )
    generator = testset.TestsetGenerator.from_langchain(llm, _embeddings())
    start = time.perf_counter()
    made: list[dict[str, Any]] = []
    try:
        found = generator.generate_with_langchain_docs(
            documents,
            testset_size=given.size,
            run_config=run_config.RunConfig(timeout=900, max_workers=1, max_retries=1),
            raise_exceptions=True,
        )
        made = found.to_list()
    except Exception as error:  # any: it is the result
        print(f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    print(f"{len(made)} of {given.size} questions on {len(documents)} documents in {seconds:.0f} s")
    given.out.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")


def _embeddings() -> Any:
    """Static word vectors as embeddings of LangChain."""
    base = import_module("langchain_core.embeddings").Embeddings
    package = import_module("wordllama")
    # It looks for its own tokenizer file in a folder that it does not have; as a cache, its package has it.
    folder = Path(str(package.__file__)).parent
    words = package.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)

    class WordVectors(base):  # type: ignore[misc, valid-type]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in words.embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    return WordVectors()


if __name__ == "__main__":
    main()
