import { useIdle } from '@mantine/hooks'

/** Without input for this time, polling pauses: it would keep the session of an absent user active. */
const idleMsMax = 5 * 60_000

/** Returns whether the user has given no input for five minutes. */
export function useIsAbsent(): boolean {
  return useIdle(idleMsMax, { initialState: false })
}
