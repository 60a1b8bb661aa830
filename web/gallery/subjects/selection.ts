import { useState } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'

/** The most subjects that can be chosen: their ids must fit into the address of an export. */
export const selectionMax = 200

/** The subjects that the user has ticked. */
export type SubjectSelection = {
  readonly isSelected: (subject: ConsoleSubject) => boolean
  readonly onChange: (subjects: readonly ConsoleSubject[], isSelected: boolean) => void
  /** The chosen subjects, also those of other pages of the list. */
  readonly subjects: readonly ConsoleSubject[]
  /** Whether some rows were not chosen, because there would be too many. */
  readonly isFull: boolean
  readonly clear: () => void
}

/** Keeps the chosen subjects while the user opens other pages of the list. */
export function useSubjectSelection(): SubjectSelection {
  const [chosen, setChosen] = useState<ReadonlyMap<string, ConsoleSubject>>(new Map())
  const [isFull, setIsFull] = useState(false)
  return {
    subjects: [...chosen.values()],
    isFull,
    clear: () => {
      setChosen(new Map())
      setIsFull(false)
    },
    isSelected: ({ subjectId }) => chosen.has(subjectId),
    onChange: (rows, isSelected) => {
      const next = new Map(chosen)
      for (const row of rows)
        if (!isSelected) next.delete(row.subjectId)
        else if (next.size < selectionMax) next.set(row.subjectId, row)
      setChosen(next)
      setIsFull(isSelected && rows.some(({ subjectId }) => !next.has(subjectId)))
    },
  }
}
