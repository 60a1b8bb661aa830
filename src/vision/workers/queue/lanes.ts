/** The images of one call. A call is accepted, rejected and evicted as a whole. */
export type QueueCall<Image extends QueueImage> = {
  readonly projectId: string
  readonly images: readonly Image[]
}

/** An accepted call with the images that were not taken. */
export type WaitingCall<Image, Call> = {
  readonly call: Call
  readonly reserved: Set<Image>
  /** The reserved images that were submitted, in that order. */
  readonly submitted: Set<Image>
  hasBegun: boolean
}

/** The waiting calls of one project in the order of their arrival; never empty. */
export type Lane<Image, Call> = readonly WaitingCall<Image, Call>[]

/** The lanes of all projects, in the order in which they are served. */
export class Lanes<Image extends QueueImage, Call extends QueueCall<Image>> {
  // A Map keeps the order of insertion: the first lane is the next in the rotation.
  readonly #lanes = new Map<string, Lane<Image, Call>>()
  #size: QueueSize = { count: 0, bytes: 0 }

  get size(): QueueSize {
    return this.#size
  }

  byProject(): ReadonlyMap<string, Lane<Image, Call>> {
    return this.#lanes
  }

  add(call: Call): void {
    const reserved = new Set(call.images)
    const waiting = { call, reserved, submitted: new Set<Image>(), hasBegun: false }
    this.#set(call.projectId, [...(this.#lanes.get(call.projectId) ?? []), waiting])
    this.#size = add(this.#size, sizeOf(call.images))
  }

  submit(call: Call, image: Image): void {
    const waiting = this.#find(call)
    if (waiting?.reserved.has(image)) waiting.submitted.add(image)
  }

  /** Removes the next submitted image; its project moves to the end of the rotation. */
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

  /** Yields the waiting images in the order in which they are taken if all are submitted. */
  *inRotation(): Generator<Image> {
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

export function laneSize(lane: Lane<QueueImage, unknown>): QueueSize {
  return lane.map(({ reserved }) => sizeOf(reserved)).reduce(add, { count: 0, bytes: 0 })
}

/** One image of a call, with the memory that it holds while it waits. */
export type QueueImage = { readonly bytes: number }

/** The places that images occupy in a queue, and their bytes. */
type QueueSize = { readonly count: number; readonly bytes: number }

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
