import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { PlaygroundRun } from '../run.ts'
import { keepRun, releaseRun, type KeptRun } from './kept-run.ts'

type RunHistory = {
  /** The latest run first. */
  readonly runs: readonly KeptRun[]
  readonly add: (run: PlaygroundRun) => void
  readonly clear: () => void
}

const HistoryContext = createContext<RunHistory | undefined>(undefined)

/** The most runs that are kept. */
const runsMax = 20

/**
 * Keeps the runs of the playground in the memory of the tab, also while other pages are open. They are
 * released when the user signs out, because this component is then removed.
 */
export function RunHistoryProvider({ children }: { readonly children: ReactNode }) {
  const [runs, setRuns] = useState<readonly KeptRun[]>([])
  const kept = useRef<readonly KeptRun[]>([])
  const replace = useCallback((next: readonly KeptRun[]) => {
    for (const run of kept.current) if (!next.includes(run)) releaseRun(run)
    kept.current = next
    setRuns(next)
  }, [])
  const isMounted = useRef(false)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
      for (const run of kept.current) releaseRun(run)
      kept.current = []
    }
  }, [])
  const add = useCallback(
    (run: PlaygroundRun) => {
      void keepRun(run).then((added) =>
        isMounted.current ? replace([added, ...kept.current].slice(0, runsMax)) : releaseRun(added),
      )
    },
    [replace],
  )
  const history = useMemo(() => ({ runs, add, clear: () => replace([]) }), [runs, add, replace])
  return <HistoryContext value={history}>{children}</HistoryContext>
}

export function useRunHistory(): RunHistory {
  const history = useContext(HistoryContext)
  if (!history)
    throw new Error(
      'useRunHistory was called outside RunHistoryProvider. Render the component inside AuthGate.',
    )
  return history
}
