/**
 * A bounded queue that is fair between projects.
 *
 * - Removing: one image per project in rotation, as in fair queueing (Nagle, RFC 970).
 * - Adding to a full queue: the project with the largest share loses a call (McKenney, "Stochastic
 *   Fairness Queueing", 1990). The share of a project is its share of the images or of the bytes,
 *   whichever is larger (Ghodsi et al., "Dominant Resource Fairness", 2011), so that neither many
 *   calls, nor large batches, nor large images displace the calls of another project.
 */
export class FairQueue<Image extends QueueImage, Call extends QueueCall<Image>> {
  readonly #bounds: QueueBounds
  /** By project. A Map keeps the order of insertion: the first lane is the next in the rotation. */
  readonly #lanes = new Map<string, Lane<Image, Call>>()
  #size: QueueSize = { count: 0, bytes: 0 }

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Number and bytes of the reserved places. */
  get size(): QueueSize {
    return this.#size
  }

  /** Whether `offer` would accept the call now. */
  accepts(call: QueueCall<QueueImage>): boolean {
    return selectEvictions(this.#lanes, call, this.#bounds) !== undefined
  }

  /**
   * Reserves a place for every image of `call` if there is room for all. Otherwise, calls of other
   * projects are evicted: the newest call of which no image was taken, of the project with the
   * largest share, provided that this project keeps at least the share that the project of `call`
   * gets. If that does not make room, nothing is evicted and `call` is rejected.
   */
  offer(call: Call): OfferResult<Call> {
    const evicted = selectEvictions(this.#lanes, call, this.#bounds)
    if (!evicted) return { isAccepted: false, evicted: [] }
    for (const other of evicted) this.remove(other)
    const reserved = new Set(call.images)
    const waiting = { call, reserved, submitted: new Set<Image>(), hasBegun: false }
    this.#set(call.projectId, [...(this.#lanes.get(call.projectId) ?? []), waiting])
    this.#size = add(this.#size, sizeOf(call.images))
    return { isAccepted: true, evicted }
  }

  /** Makes a waiting image available to `take`. It has no effect on an image that was removed. */
  submit(call: Call, image: Image): void {
    const waiting = this.#find(call)
    if (waiting?.reserved.has(image)) waiting.submitted.add(image)
  }

  /**
   * Removes and returns the next submitted image: projects in rotation, one image each; within a
   * project, the calls in the order of their arrival.
   */
  take(): Image | undefined {
    for (const [projectId, lane] of this.#lanes) {
      const waiting = lane.find(({ submitted }) => submitted.size > 0)
      const [image] = waiting?.submitted ?? []
      if (!waiting || !image) continue
      waiting.hasBegun = true
      waiting.submitted.delete(image)
      waiting.reserved.delete(image)
      this.#size = subtract(this.#size, sizeOf([image]))
      this.#lanes.delete(projectId)
      this.#set(
        projectId,
        lane.filter(({ reserved }) => reserved.size > 0),
      )
      return image
    }
    return undefined
  }

  /** Removes the images of `call` that were not taken. */
  remove(call: Call): void {
    const removed = this.#find(call)
    if (!removed) return
    this.#size = subtract(this.#size, sizeOf(removed.reserved))
    const lane = this.#lanes.get(call.projectId) ?? []
    this.#set(
      call.projectId,
      lane.filter((waiting) => waiting !== removed),
    )
  }

  /** Returns how many images must be taken before there is room for `call` without an eviction. */
  imagesUntilRoom({ images }: QueueCall<QueueImage>): number {
    let needed = add(this.#size, sizeOf(images))
    let imageCount = 0
    for (const image of this.#inRotation()) {
      if (fits(needed, this.#bounds)) return imageCount
      needed = subtract(needed, sizeOf([image]))
      imageCount += 1
    }
    return imageCount
  }

  /** Yields the waiting images in the order in which they are taken if all are submitted. */
  *#inRotation(): Generator<Image> {
    const images = [...this.#lanes.values()].map((lane) =>
      lane.flatMap(({ reserved }) => [...reserved]),
    )
    const turns = Math.max(0, ...images.map(({ length }) => length))
    for (let turn = 0; turn < turns; turn++)
      yield* images.flatMap((lane) => lane.slice(turn, turn + 1))
  }

  #find(call: Call): WaitingCall<Image, Call> | undefined {
    return this.#lanes.get(call.projectId)?.find((waiting) => waiting.call === call)
  }

  #set(projectId: string, lane: Lane<Image, Call>): void {
    if (lane.length > 0) this.#lanes.set(projectId, lane)
    else this.#lanes.delete(projectId)
  }
}

type OfferResult<Call> = { readonly isAccepted: boolean; readonly evicted: readonly Call[] }

/** The images of one call. A call is accepted, rejected and evicted as a whole. */
export type QueueCall<Image extends QueueImage> = {
  readonly projectId: string
  readonly images: readonly Image[]
}

/** An accepted call with the images that were not taken. */
type WaitingCall<Image, Call> = {
  readonly call: Call
  readonly reserved: Set<Image>
  /** The reserved images that were submitted, in that order. */
  readonly submitted: Set<Image>
  hasBegun: boolean
}

/** The waiting calls of one project in the order of their arrival; never empty. */
type Lane<Image, Call> = readonly WaitingCall<Image, Call>[]

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

function laneSize(lane: Lane<QueueImage, unknown>): QueueSize {
  return lane.map(({ reserved }) => sizeOf(reserved)).reduce(add, { count: 0, bytes: 0 })
}

/** One image of a call, with the memory that it holds while it waits. */
export type QueueImage = { readonly bytes: number }

/** The places that images occupy in a queue, and their bytes. */
export type QueueSize = { readonly count: number; readonly bytes: number }

export type QueueBounds = { readonly countMax: number; readonly bytesMax: number }

/** Returns the larger of the share of the images and the share of the bytes. */
function shareOf({ count, bytes }: QueueSize, { countMax, bytesMax }: QueueBounds): number {
  return Math.max(count / countMax, bytes / bytesMax)
}

function sizeOf(images: Iterable<QueueImage>): QueueSize {
  const sizes = [...images].map(({ bytes }) => ({ count: 1, bytes }))
  return sizes.reduce(add, { count: 0, bytes: 0 })
}

function add(a: QueueSize, b: QueueSize): QueueSize {
  return { count: a.count + b.count, bytes: a.bytes + b.bytes }
}

function subtract(a: QueueSize, b: QueueSize): QueueSize {
  return { count: a.count - b.count, bytes: a.bytes - b.bytes }
}

function fits({ count, bytes }: QueueSize, { countMax, bytesMax }: QueueBounds): boolean {
  return count <= countMax && bytes <= bytesMax
}
