class Stemmer:
    def stemWord(self, word: str) -> str: ...  # noqa: N802

def stemmer(lang: str) -> Stemmer: ...
