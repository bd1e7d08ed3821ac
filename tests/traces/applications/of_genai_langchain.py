"""Applications of LangChain, observed by OpenTelemetry's own instrumentor."""

from tests.traces.applications import of_langchain

APPLICATIONS = {
    f"genai_{name}": of_langchain.APPLICATIONS[name] for name in ("langchain_agent", "langchain_reranker")
}
