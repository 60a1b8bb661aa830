import compreFaceApi from '../compreface/openapi.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { acceptedContentTypes } from '../lib/image-types/image-types.ts'

/** What the API description publishes to callers. */
export function apiDescription(config: Config) {
  const optionalRoutes = config.COMPREFACE_API === 'on' ? [compreFaceApi] : []
  const bearerKeys = config.BEARER_KEYS === 'on'
  const extensions = { ...apiFormats(config), bearerKeys, optionalRoutes }
  return { limits: apiLimits(config), extensions }
}

function apiLimits(config: Config) {
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

/** The limits and the formats of a request body. */
export function bodyLimits(config: Config) {
  const { imageBodyTypes } = apiFormats(config)
  return {
    imageBodyTypes,
    bodyBytesMax: config.BODY_BYTES_MAX,
    jsonLimits: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
  }
}

/** The types of images and the formats of calls. */
function apiFormats({ IMAGE_TYPES_EXTRA: extraImageTypes, BINARY_BODIES }: Config) {
  const imageBodyTypes = BINARY_BODIES === 'on' ? acceptedContentTypes(extraImageTypes) : undefined
  return { extraImageTypes, imageBodyTypes }
}

/** The limits of the memory of request bodies, and of the time for which they hold it. */
export function bodyBudgetLimits(config: Config) {
  return {
    bytesMax: config.BODIES_BYTES_MAX,
    bytesPerProjectMax: config.BODIES_PER_PROJECT_BYTES_MAX,
    bytesPerAccountMax: config.BODIES_PER_ACCOUNT_BYTES_MAX,
    bytesPerSMin: config.BODY_BYTES_PER_S_MIN,
  }
}

/** The limits of connections and requests, and the origins that may send them from a browser. */
export function serverLimits(config: Config) {
  return {
    proxies: config.TRUST_PROXY,
    headersMsMax: config.HEADERS_TIMEOUT_MS,
    requestMsMax: config.REQUEST_TIMEOUT_MS,
    connectionsMax: config.CONNECTIONS_MAX,
    connectionsPerAddressMax: config.CONNECTIONS_PER_ADDRESS_MAX,
    writeMsMax: config.WRITE_TIMEOUT_MS,
    drainMsMax: config.DRAIN_TIMEOUT_MS,
    corsOrigins: config.CORS_ORIGINS,
    bearerKeys: config.BEARER_KEYS === 'on',
  }
}
