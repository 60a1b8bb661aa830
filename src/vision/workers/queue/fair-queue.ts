import { Lanes, type QueueCall } from './lanes.ts'
import { add, fits, sizeOf, subtract } from './queue-size.ts'
import type { QueueBounds, QueueImage } from './queue-size.ts'
import { selectEvictions } from './select-evictions.ts'

export type FairQueue<Image extends QueueImage, Call extends QueueCall<Image>> = {
  /** Whether `offer` would accept the call now. */
  readonly accepts: (call: QueueCall<QueueImage>) => boolean
  /**
   * Reserves a place for every image of `call` if there is room for all. Otherwise, calls of other
   * projects are evicted: the newest call of which no image was taken, of the project with the
   * largest share, provided that this project keeps at least the share that the project of `call`
   * gets. If that does not make room, nothing is evicted and `call` is rejected.
   */
  readonly offer: (call: Call) => OfferResult<Call>
  /** Makes a waiting image available to `take`. It has no effect on an image that was removed. */
  readonly submit: (call: Call, image: Image) => void
  /**
   * Removes and returns the next submitted image: projects in rotation, one image each; within a
   * project, the calls in the order of their arrival.
   */
  readonly take: () => Image | undefined
  /** Removes the images of `call` that were not taken. */
  readonly remove: (call: Call) => void
  /** Returns how many images must be taken before there is room for `call` without an eviction. */
  readonly imagesUntilRoom: (call: QueueCall<QueueImage>) => number
  /** Number of reserved places. */
  readonly count: () => number
  readonly bytes: () => number
}

type OfferResult<Call> = { readonly isAccepted: boolean; readonly evicted: readonly Call[] }

/**
 * A bounded queue that is fair between projects.
 *
 * - Removing: one image per project in rotation, as in fair queueing (Nagle, RFC 970).
 * - Adding to a full queue: the project with the largest share loses a call (McKenney, "Stochastic
 *   Fairness Queueing", 1990). The share of a project is its share of the images or of the bytes,
 *   whichever is larger (Ghodsi et al., "Dominant Resource Fairness", 2011), so that neither many
 *   calls, nor large batches, nor large images displace the calls of another project.
 */
export function createFairQueue<Image extends QueueImage, Call extends QueueCall<Image>>(
  bounds: QueueBounds,
): FairQueue<Image, Call> {
  const lanes = new Lanes<Image, Call>()

  function offer(call: Call): OfferResult<Call> {
    const evicted = selectEvictions(lanes.byProject(), call, bounds)
    if (!evicted) return { isAccepted: false, evicted: [] }
    for (const other of evicted) lanes.remove(other)
    lanes.add(call)
    return { isAccepted: true, evicted }
  }

  function imagesUntilRoom({ images }: QueueCall<QueueImage>): number {
    let needed = add(lanes.size, sizeOf(images))
    let imageCount = 0
    for (const image of lanes.inRotation()) {
      if (fits(needed, bounds)) return imageCount
      needed = subtract(needed, sizeOf([image]))
      imageCount += 1
    }
    return imageCount
  }

  return {
    accepts: (call) => selectEvictions(lanes.byProject(), call, bounds) !== undefined,
    offer,
    submit: (call, image) => lanes.submit(call, image),
    take: () => lanes.take(),
    remove: (call) => lanes.remove(call),
    imagesUntilRoom,
    count: () => lanes.size.count,
    bytes: () => lanes.size.bytes,
  }
}
