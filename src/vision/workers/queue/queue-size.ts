/** One image of a call, with the memory that it holds while it waits. */
export type QueueImage = { readonly bytes: number }

/** The places that images occupy in a queue, and their bytes. */
export type QueueSize = { readonly count: number; readonly bytes: number }

export type QueueBounds = { readonly countMax: number; readonly bytesMax: number }

/** Returns the larger of the share of the images and the share of the bytes. */
export function shareOf({ count, bytes }: QueueSize, { countMax, bytesMax }: QueueBounds): number {
  return Math.max(count / countMax, bytes / bytesMax)
}

export function sizeOf(images: Iterable<QueueImage>): QueueSize {
  const sizes = [...images].map(({ bytes }) => ({ count: 1, bytes }))
  return sizes.reduce(add, { count: 0, bytes: 0 })
}

export function add(a: QueueSize, b: QueueSize): QueueSize {
  return { count: a.count + b.count, bytes: a.bytes + b.bytes }
}

export function subtract(a: QueueSize, b: QueueSize): QueueSize {
  return { count: a.count - b.count, bytes: a.bytes - b.bytes }
}

export function fits({ count, bytes }: QueueSize, { countMax, bytesMax }: QueueBounds): boolean {
  return count <= countMax && bytes <= bytesMax
}
