import {
  Lanes,
  type QueueCall,
  add,
  fits,
  sizeOf,
  subtract,
  type QueueBounds,
  type QueueImage,
  laneSize,
  type Lane,
  type WaitingCall,
  shareOf,
} from './lanes.ts'

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

/** Returns the calls to evict so that `offered` fits, or undefined if it must be rejected. */
function selectEvictions<Image extends QueueImage, Call extends QueueCall<Image>>(
  lanes: ReadonlyMap<string, Lane<Image, Call>>,
  offered: QueueCall<QueueImage>,
  bounds: QueueBounds,
): readonly Call[] | undefined {
  const remaining = new Map(lanes)
  const own = add(laneSize(lanes.get(offered.projectId) ?? []), sizeOf(offered.images))
  const ownShare = shareOf(own, bounds)
  const evicted: Call[] = []
  remaining.delete(offered.projectId)
  for (;;) {
    const others = [...remaining.values()].map(laneSize)
    if (fits(others.reduce(add, own), bounds)) return evicted
    const victim = [...remaining.values()]
      .toSorted((a, b) => shareOf(laneSize(b), bounds) - shareOf(laneSize(a), bounds))
      .map((lane) => lane.findLast(({ hasBegun }) => !hasBegun))
      .find((waiting) => waiting && shareWithout(waiting) >= ownShare)
    if (!victim) return undefined
    evicted.push(victim.call)
    remaining.set(victim.call.projectId, laneWithout(victim))
  }

  function laneWithout(victim: WaitingCall<Image, Call>): Lane<Image, Call> {
    const lane = remaining.get(victim.call.projectId) ?? []
    return lane.filter((waiting) => waiting !== victim)
  }

  function shareWithout(victim: WaitingCall<Image, Call>): number {
    return shareOf(laneSize(laneWithout(victim)), bounds)
  }
}
