/**
 * A bounded queue that is fair between accounts, and between the projects of an account.
 *
 * - Removing: one image per account in rotation, as in fair queueing (Nagle, RFC 970), and one per
 *   project in the turns of its account.
 * - Adding to a full queue: the account with the largest share loses a call of its project with the
 *   largest share (McKenney, "Stochastic Fairness Queueing", 1990). A share is that of the images or of
 *   the bytes, whichever is larger (Ghodsi et al., "Dominant Resource Fairness", 2011), so that neither
 *   many projects, nor many calls, nor large batches or images displace the calls of others.
 */
export class FairQueue<Image extends QueueImage, Call extends QueueCall<Image>> {
  readonly #bounds: QueueBounds
  /**
   * In the order of their next turns if every image is submitted. The calls of an account are adjacent,
   * and within it those of a project: an account whose first call is removed keeps its turn.
   */
  #waiting: readonly WaitingCall<Image, Call>[] = []

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Number and bytes of the reserved places. */
  get size(): QueueSize {
    return sizeOfCalls(this.#waiting)
  }

  /** Whether `offer` would accept the call now. */
  accepts(call: QueueCall<QueueImage>): boolean {
    return selectEvictions(this.#waiting, call, this.#bounds) !== undefined
  }

  /**
   * Reserves a place for every image of `call` if there is room for all. Otherwise, calls of other
   * projects are evicted: the newest call of which no image was taken, of the project with the
   * largest share, of the account with the largest share. Its account, or its project if the account
   * is that of `call`, must keep at least the share that the one of `call` gets. If that does not make
   * room, nothing is evicted and `call` is rejected.
   */
  offer(call: Call) {
    const evicted = selectEvictions(this.#waiting, call, this.#bounds)
    if (!evicted) return { isAccepted: false, evicted: [] }
    for (const other of evicted) this.remove(other)
    const images = { reserved: new Set(call.images), submitted: new Set<Image>() }
    const waiting = [...this.#waiting, { call, ...images, hasBegun: false }]
    this.#waiting = groupCalls(waiting, 'accountId').flatMap((account) =>
      groupCalls(account, 'projectId').flat(),
    )
    return { isAccepted: true, evicted }
  }

  /** Makes a waiting image available to `take`. It has no effect on an image that was removed. */
  submit(call: Call, image: Image): void {
    const waiting = this.#find(call)
    if (waiting?.reserved.has(image)) waiting.submitted.add(image)
  }

  /**
   * Removes and returns the next submitted image: accounts in rotation, one image each; within an
   * account, its projects in rotation; within a project, the calls in the order of their arrival.
   */
  take(): Image | undefined {
    const next = this.#waiting.find(({ submitted }) => submitted.size > 0)
    const [image] = next?.submitted ?? []
    if (!next || !image) return undefined
    next.hasBegun = true
    next.submitted.delete(image)
    next.reserved.delete(image)
    const { accountId, projectId } = next.call
    /** The account moves to the end of the rotation, and the project to the end within it. */
    const rank = ({ call }: WaitingCall<Image, Call>) =>
      Number(call.accountId === accountId) + Number(call.projectId === projectId)
    this.#waiting = this.#waiting
      .filter(({ reserved }) => reserved.size > 0)
      .toSorted((a, b) => rank(a) - rank(b))
    return image
  }

  /** Removes the images of `call` that were not taken. */
  remove(call: Call): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.call !== call)
  }

  /** Returns how many images must be taken before there is room for `call` without an eviction. */
  imagesUntilRoom({ images }: QueueCall<QueueImage>): number {
    let needed = add(this.size, sizeOf(images))
    let imageCount = 0
    for (const image of this.#inRotation()) {
      if (fits(needed, this.#bounds)) return imageCount
      needed = subtract(needed, sizeOf([image]))
      imageCount += 1
    }
    return imageCount
  }

  /** Returns the waiting images in the order in which they are taken if all are submitted. */
  #inRotation(): readonly Image[] {
    const accounts = groupCalls(this.#waiting, 'accountId').map((account) => {
      const projects = groupCalls(account, 'projectId')
      return interleave(projects.map((calls) => calls.flatMap(({ reserved }) => [...reserved])))
    })
    return interleave(accounts)
  }

  #find(call: Call): WaitingCall<Image, Call> | undefined {
    return this.#waiting.find((waiting) => waiting.call === call)
  }
}

/** Groups calls by account or project, in the order of the first call of each. */
function groupCalls<Waiting extends WaitingCall<unknown, QueueOwner>>(
  calls: readonly Waiting[],
  key: keyof QueueOwner,
): readonly (readonly Waiting[])[] {
  return [...Map.groupBy(calls, ({ call }) => call[key]).values()]
}

/** Returns the first item of each list, then the second ones, and so on. */
function interleave<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const turns = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: turns }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  ).flat()
}

export type QueueOwner = { readonly accountId: string; readonly projectId: string }

/** The images of one call. A call is accepted, rejected and evicted as a whole. */
export type QueueCall<Image extends QueueImage> = QueueOwner & {
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

/** Returns the calls to evict so that `offered` fits, or undefined if it must be rejected. */
function selectEvictions<Image extends QueueImage, Call extends QueueCall<Image>>(
  waiting: readonly WaitingCall<Image, Call>[],
  offered: QueueCall<QueueImage>,
  bounds: QueueBounds,
): readonly Call[] | undefined {
  let remaining = waiting
  const evicted: Call[] = []
  while (!fits(add(sizeOfCalls(remaining), sizeOf(offered.images)), bounds)) {
    const victim = selectVictim(remaining, offered, bounds)
    if (!victim) return undefined
    evicted.push(victim.call)
    remaining = remaining.filter((other) => other !== victim)
  }
  return evicted
}

function selectVictim<Waiting extends WaitingCall<QueueImage, QueueOwner>>(
  waiting: readonly Waiting[],
  offered: QueueCall<QueueImage>,
  bounds: QueueBounds,
): Waiting | undefined {
  const share = (calls: readonly Waiting[]) => shareOf(sizeOfCalls(calls), bounds)
  const byShare = (calls: readonly Waiting[], key: keyof QueueOwner) =>
    groupCalls(calls, key).toSorted((a, b) => share(b) - share(a))
  for (const account of byShare(waiting, 'accountId')) {
    const isOwn = account[0]?.call.accountId === offered.accountId
    const key = isOwn ? 'projectId' : 'accountId'
    const own = waiting.filter(({ call }) => call[key] === offered[key])
    const ownShare = shareOf(add(sizeOfCalls(own), sizeOf(offered.images)), bounds)
    const accountSize = sizeOfCalls(account)
    for (const project of byShare(account, 'projectId')) {
      const newest = project.findLast(({ hasBegun }) => !hasBegun)
      if (!newest || newest.call.projectId === offered.projectId) continue
      const size = isOwn ? sizeOfCalls(project) : accountSize
      if (shareOf(subtract(size, sizeOf(newest.reserved)), bounds) >= ownShare) return newest
    }
  }
  return undefined
}

function sizeOfCalls(calls: readonly WaitingCall<QueueImage, unknown>[]): QueueSize {
  return sizeOf(calls.flatMap(({ reserved }) => [...reserved]))
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
