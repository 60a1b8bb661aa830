import type { Config } from '../config.ts'
import { acceptedContentTypes } from '../lib/image-types/image-types.ts'

/** The limits that the API description publishes to callers. */
export function apiLimits(config: Config) {
  return {
    bodyBytesMax: config.BODY_BYTES_MAX,
    imageBytesMax: config.IMAGE_BYTES_MAX,
    imagePixelsMax: config.IMAGE_PIXELS_MAX,
    imageSideMinPx: config.IMAGE_SIDE_MIN_PX,
    jsonDepthMax: config.JSON_DEPTH_MAX,
    jsonTokensMax: config.JSON_TOKENS_MAX,
    rateSustainedPerS: config.RATE_SUSTAINED_PER_S,
    rateBurst: config.RATE_BURST,
    replayWindowMs: config.REPLAY_WINDOW_MS,
    subjectTemplatesMax: config.SUBJECT_TEMPLATES_MAX,
    galleryTemplatesMax: config.GALLERY_TEMPLATES_MAX,
  }
}

/** The limits of a request body. */
export function bodyLimits(config: Config) {
  return {
    bodyBytesMax: config.BODY_BYTES_MAX,
    jsonLimits: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
  }
}

/** The formats of the bodies of calls in addition to JSON. */
export function bodyFormats(config: Config) {
  const isBinaryAllowed = config.BINARY_BODIES === 'on'
  return {
    imageBodyTypes: isBinaryAllowed ? acceptedContentTypes(config.IMAGE_TYPES_EXTRA) : undefined,
  }
}

/** The limits of the memory of request bodies. */
export function bodyBudgetLimits(config: Config) {
  return {
    bytesMax: config.BODIES_BYTES_MAX,
    bytesPerOwnerMax: config.BODIES_PER_KEY_BYTES_MAX,
  }
}

/** The limits of connections and requests. */
export function serverLimits(config: Config) {
  return {
    proxies: config.TRUST_PROXY,
    headersMsMax: config.HEADERS_TIMEOUT_MS,
    requestMsMax: config.REQUEST_TIMEOUT_MS,
    connectionsMax: config.CONNECTIONS_MAX,
    connectionsPerAddressMax: config.CONNECTIONS_PER_ADDRESS_MAX,
    writeMsMax: config.WRITE_TIMEOUT_MS,
    drainMsMax: config.DRAIN_TIMEOUT_MS,
  }
}
