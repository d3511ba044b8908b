"""Why there is no reply to use. Whoever catches these decides between again, later and never."""

from annotation.llm.reply import Reply


class LLMError(Exception):
    """A request has no usable reply.

    retryable    the same request may succeed later: it goes back to the queue, costs no attempt
    retry_after  seconds that the provider asked to wait, if it did
    provider     every other request to this provider would fail too (key, credit, model name,
                 address): the build has to wait for a person, no case is to blame
    status       the HTTP status, where there was one (429 is what a limiter listens to)
    reply        the reply that was paid for but can't be used (another model's), for the books
    maybe_billed the request was sent, and no word came back of what it cost
    failures     how often the request has failed while others were answered, as far as whoever asked knows
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        provider: bool = False,
        status: int | None = None,
        reply: Reply | None = None,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        self.provider = provider
        self.status = status
        self.reply = reply
        self.maybe_billed = maybe_billed
        self.failures = 0


class NoReply(LLMError):
    """The recorded file has no reply to this request; asking again won't help."""

    def __init__(self, request_id: str, agent: str, source: str) -> None:
        super().__init__(
            f"{source} has no reply to request {request_id} of the {agent}; record one, or undo the change "
            "of text, prompt or setting that made this a new request.",
            retryable=False,
        )
        self.request_id = request_id


class Waiting(LLMError):
    """The request waits to be exported and answered by a person or another model."""

    def __init__(self, request_id: str, agent: str) -> None:
        super().__init__(
            f"request {request_id} of the {agent} waits for an answer: export the build's requests, "
            "answer them, import the replies.",
            retryable=False,
        )
        self.request_id = request_id
