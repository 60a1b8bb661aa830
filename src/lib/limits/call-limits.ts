const mebibyte = 1024 * 1024

/** The most images of one call. */
export const imagesPerCallMax = 10

/** The default limits of what can arrive at once: calls of a project, and bytes. */
export const arrivals = { burst: 20, image: 8 * mebibyte, body: 24 * mebibyte }

/**
 * The bytes of a frame in a liveness session: ten frames of more do not fit into a body. A key can read
 * the stored frame ten times per second.
 */
export const sessionFrameBytesMax = 2 * mebibyte

/** The smallest queue in which two bursts of single images and two full batches can wait. */
export const smallestQueue = {
  images: 2 * arrivals.burst + 2 * imagesPerCallMax,
  bytes: 2 * arrivals.burst * base64Length(arrivals.image) + 2 * arrivals.body,
}

/** Returns the length of the padded base64 text of that many bytes. */
export function base64Length(byteCount: number): number {
  return Math.ceil(byteCount / 3) * 4
}

/** The characters of the correlation id of an image. */
export const correlationIdCharsMax = 128

/** The origins of a project whose pages may send frames of liveness sessions. */
export const livenessOriginsMax = 20
