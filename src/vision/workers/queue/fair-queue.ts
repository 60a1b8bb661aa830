/** Something that waits: on whose behalf, and how much memory it holds while it does. */
export type QueueEntry = { readonly projectId: string; readonly bytes: number }

export type FairQueue<Entry extends QueueEntry> = {
  /**
   * Lets `entry` in if there is room. In a full queue it takes the place of the newest entry of
   * the project that holds most, provided that project keeps no less than the newcomer's gets.
   */
  readonly offer: (entry: Entry) => { readonly isIn: boolean; readonly displaced?: Entry }
  /** The next entry: projects take turns, and within a project the first comes first. */
  readonly take: () => Entry | undefined
  /** Whether `entry` was still waiting; it is not any more. */
  readonly remove: (entry: Entry) => boolean
  readonly count: () => number
  readonly bytes: () => number
}

export type QueueBounds = { readonly countMax: number; readonly bytesMax: number }

/** The entries of one project; never empty. */
type Lane<Entry> = readonly Entry[]

/**
 * A bounded queue that is fair between projects at both ends.
 *
 * Out: one entry per project in rotation, as in fair queueing (Nagle, RFC 970). In: when it is
 * full, the longest lane gives way (McKenney, "Stochastic Fairness Queueing", 1990), so that a
 * project with few calls is served however many another one sends.
 */
export function createFairQueue<Entry extends QueueEntry>(bounds: QueueBounds): FairQueue<Entry> {
  // A Map remembers the order of insertion: the first lane is the next to be served.
  const lanes = new Map<string, Lane<Entry>>()
  const all = () => [...lanes.values()].flat()
  const count = () => all().length
  const bytes = () => totalBytes(all())

  function put(projectId: string, lane: Lane<Entry>): void {
    if (lane.length > 0) lanes.set(projectId, lane)
    else lanes.delete(projectId)
  }

  function remove(entry: Entry): boolean {
    const lane = lanes.get(entry.projectId) ?? []
    put(
      entry.projectId,
      lane.filter((other) => other !== entry),
    )
    return lane.includes(entry)
  }

  function offer(entry: Entry): { isIn: boolean; displaced?: Entry } {
    const own = lanes.get(entry.projectId) ?? []
    if (fits([...all(), entry], bounds)) {
      put(entry.projectId, [...own, entry])
      return { isIn: true }
    }
    const displaced = selectEviction([...lanes.values()], [...own, entry], bounds)
    if (!displaced) return { isIn: false }
    remove(displaced)
    put(entry.projectId, [...own, entry])
    return { isIn: true, displaced }
  }

  function take(): Entry | undefined {
    const [first] = lanes
    if (!first) return undefined
    const [projectId, [entry, ...rest]] = first
    lanes.delete(projectId)
    put(projectId, rest)
    return entry
  }

  return { offer, take, remove, count, bytes }
}

/** The entry that leaves so that the newcomer, last of its lane `grown`, comes in; or none. */
function selectEviction<Entry extends QueueEntry>(
  lanes: readonly Lane<Entry>[],
  grown: Lane<Entry>,
  bounds: QueueBounds,
): Entry | undefined {
  const isCrowded = lanes.flat().length >= bounds.countMax
  const size = (lane: Lane<Entry>) => (isCrowded ? lane.length : totalBytes(lane))
  const largest = lanes.toSorted((one, other) => size(other) - size(one))[0] ?? []
  const rest = largest.slice(0, -1)
  const victim = largest.at(-1)
  const others = lanes.flat().filter((entry) => entry !== victim)
  const isFair = size(rest) >= size(grown)
  return isFair && fits([...others, ...grown.slice(-1)], bounds) ? victim : undefined
}

function fits(entries: readonly QueueEntry[], bounds: QueueBounds): boolean {
  return entries.length <= bounds.countMax && totalBytes(entries) <= bounds.bytesMax
}

function totalBytes(entries: readonly QueueEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0)
}
