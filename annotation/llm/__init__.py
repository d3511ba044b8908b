"""Language models behind one protocol: ask a request, get a reply or an LLMError.

`live` talks to a provider through the anthropic client, `recording` answers from a file, and
`exchange` lets a person or another model answer through files. Importing this package loads none
of them and no client.
"""

from annotation.llm.errors import LLMError, NoReply, Waiting
from annotation.llm.protocol import LLM
from annotation.llm.reply import Reply, Usage
from annotation.llm.request import Message, Request, host_of

__all__ = ["LLM", "LLMError", "Message", "NoReply", "Reply", "Request", "Usage", "Waiting", "host_of"]
