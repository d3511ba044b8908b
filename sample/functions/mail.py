"""Mail messages: building, reading, passing on."""

import mimetypes
import smtplib
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path


def build_message(sender, recipient, subject, body):
    """Build an email without an attachment, ready to send."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = subject
    message.set_content(body)
    return message


def send_text_mail(host, sender, recipient, text):
    """Send a short email without any attachment and return what the server refused."""
    message = EmailMessage()
    message["From"], message["To"] = sender, recipient
    message.set_content(text)
    with smtplib.SMTP(host) as server:
        return server.send_message(message)


def attach_file(message, path):
    """Add a file to an email message as an attachment."""
    kind, _ = mimetypes.guess_type(path)
    main, sub = (kind or "application/octet-stream").split("/")
    message.add_attachment(Path(path).read_bytes(), maintype=main, subtype=sub, filename=Path(path).name)
    return message


def attachment_names(raw):
    """List the names of the attachments of an email."""
    message = message_from_bytes(raw)
    return [part.get_filename() for part in message.walk() if part.get_filename()]


def save_attachments(raw, folder):
    """Save each attachment of an email in a folder and return the paths."""
    paths = []
    for part in message_from_bytes(raw).walk():
        name = part.get_filename()
        if name:
            path = Path(folder) / Path(name).name
            path.write_bytes(part.get_payload(decode=True))
            paths.append(str(path))
    return paths


def has_attachment(message):
    """Tell whether an email message has an attachment."""
    return any(part.get_content_disposition() == "attachment" for part in message.walk())


def deliver(server, message):
    """Hand a message to a mail server."""
    server.send_message(message)
