import { laneSize, type Lane, type QueueCall, type WaitingCall } from './lanes.ts'
import { add, fits, shareOf, sizeOf, type QueueBounds, type QueueImage } from './queue-size.ts'

/** Returns the calls to evict so that `offered` fits, or undefined if it must be rejected. */
export function selectEvictions<Image extends QueueImage, Call extends QueueCall<Image>>(
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
