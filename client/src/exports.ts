/** The exports that both entries have in addition to `createClient`. */
export type * from './contract.ts'
export type {
  ActionCalls,
  EnrollOptions,
  IdentifyOptions,
  ImageSearchValue,
  LivenessFrameOptions,
  StoredFaceReference,
  StoredSearchOptions,
  StoredSearchValue,
  SubjectChanges,
  SubjectReference,
  VerifyOptions,
} from './actions/action-calls.ts'
export type { Outcome } from './actions/failure-mode.ts'
export type {
  ActionName,
  ActionResponse,
  CallValidation,
  ItemResult,
} from './actions/read-envelope.ts'
export { FacegateError, type FacegateErrorCode, type Problem } from './facegate-error.ts'
export type { ClientEvent } from './client-event.ts'
export type { DescribedImage, ImageBytes } from './image/to-image-item.ts'
export type { CallOptions, ClientOptions } from './options.ts'
export type { Routes } from './routes.ts'
export {
  verifyWebhook,
  WebhookSignatureError,
  type WebhookToVerify,
} from './webhooks/verify-webhook.ts'
export type {
  WebhookEvent,
  WebhookEventData,
  WebhookMatch,
  WebhookUnmatchedFace,
  WebhookVisitor,
} from './webhooks/webhook-event.ts'
