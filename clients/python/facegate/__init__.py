"""The client of Facegate, the self-hosted face recognition service.

    from facegate import Client

    facegate = Client(api_key="fsk_live_...")
    print(facegate.detect("photo.jpg")["faceCount"])
"""

from . import contract, error_codes
from .actions import StoredFaceReference, SubjectReference
from .async_client import AsyncClient
from .cancellation import Cancellation
from .client import Client
from .errors import CallCancelled, FacegateError, Problem
from .images import DescribedImage, Image
from .options import CallOptions, ClientEvent
from .responses import ActionResponse, CallValidation, ItemResult
from .webhooks import WebhookEvent, WebhookSignatureError, verify_webhook

__version__ = "0.1.0"

__all__ = [
    "ActionResponse",
    "CallValidation",
    "AsyncClient",
    "CallCancelled",
    "CallOptions",
    "Cancellation",
    "Client",
    "ClientEvent",
    "DescribedImage",
    "FacegateError",
    "Image",
    "ItemResult",
    "Problem",
    "StoredFaceReference",
    "SubjectReference",
    "WebhookEvent",
    "WebhookSignatureError",
    "contract",
    "error_codes",
    "verify_webhook",
]
