/** One waiting call: its project, and the memory that it holds while it waits. */
export type QueueEntry = { readonly projectId: string; readonly bytes: number }

export type FairQueue<Entry extends QueueEntry> = {
  /**
   * Adds `entry` if there is room. If the queue is full, the newest entry of the project that holds
   * most is evicted, provided that this project keeps at least as much as the project of `entry` gets.
   */
  readonly offer: (entry: Entry) => OfferResult<Entry>
  /** Removes and returns the next entry: projects in rotation, first in first out per project. */
  readonly take: () => Entry | undefined
  /** Removes `entry`; returns false if it was not in the queue. */
  readonly remove: (entry: Entry) => boolean
  readonly count: () => number
  readonly bytes: () => number
}

type OfferResult<Entry> = { readonly isAccepted: boolean; readonly evicted?: Entry }

export type QueueBounds = { readonly countMax: number; readonly bytesMax: number }

/** The entries of one project; never empty. */
type Lane<Entry> = readonly Entry[]

/**
 * A bounded queue that is fair between projects.
 *
 * - Removing: one entry per project in rotation, as in fair queueing (Nagle, RFC 970).
 * - Adding to a full queue: the longest lane loses an entry (McKenney, "Stochastic Fairness
 *   Queueing", 1990). A project with few calls is served, however many calls another project sends.
 */
export function createFairQueue<Entry extends QueueEntry>(bounds: QueueBounds): FairQueue<Entry> {
  // A Map keeps the order of insertion: the first lane is the next in the rotation.
  const lanes = new Map<string, Lane<Entry>>()
  const allEntries = () => [...lanes.values()].flat()
  const count = () => allEntries().length
  const bytes = () => totalBytes(allEntries())

  function setLane(projectId: string, lane: Lane<Entry>): void {
    if (lane.length > 0) lanes.set(projectId, lane)
    else lanes.delete(projectId)
  }

  function remove(entry: Entry): boolean {
    const lane = lanes.get(entry.projectId) ?? []
    setLane(
      entry.projectId,
      lane.filter((other) => other !== entry),
    )
    return lane.includes(entry)
  }

  function offer(entry: Entry): OfferResult<Entry> {
    const lane = lanes.get(entry.projectId) ?? []
    if (fits([...allEntries(), entry], bounds)) {
      setLane(entry.projectId, [...lane, entry])
      return { isAccepted: true }
    }
    const evicted = selectEviction([...lanes.values()], [...lane, entry], bounds)
    if (!evicted) return { isAccepted: false }
    remove(evicted)
    setLane(entry.projectId, [...lane, entry])
    return { isAccepted: true, evicted }
  }

  function take(): Entry | undefined {
    const [first] = lanes
    if (!first) return undefined
    const [projectId, [entry, ...rest]] = first
    lanes.delete(projectId)
    setLane(projectId, rest)
    return entry
  }

  return { offer, take, remove, count, bytes }
}

/**
 * Returns the entry to evict so that a new entry fits, or undefined if the new entry must be rejected.
 *
 * @param grown the lane of the new entry, with the new entry as its last element.
 */
function selectEviction<Entry extends QueueEntry>(
  lanes: readonly Lane<Entry>[],
  grown: Lane<Entry>,
  bounds: QueueBounds,
): Entry | undefined {
  const isCountFull = lanes.flat().length >= bounds.countMax
  const sizeOf = (lane: Lane<Entry>) => (isCountFull ? lane.length : totalBytes(lane))
  const largest = lanes.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? []
  const remaining = largest.slice(0, -1)
  const newest = largest.at(-1)
  const others = lanes.flat().filter((entry) => entry !== newest)
  const isFair = sizeOf(remaining) >= sizeOf(grown)
  return isFair && fits([...others, ...grown.slice(-1)], bounds) ? newest : undefined
}

function fits(entries: readonly QueueEntry[], bounds: QueueBounds): boolean {
  return entries.length <= bounds.countMax && totalBytes(entries) <= bounds.bytesMax
}

function totalBytes(entries: readonly QueueEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0)
}
