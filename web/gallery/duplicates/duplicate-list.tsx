import { Button, Kbd, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useState, type KeyboardEvent } from 'react'
import type {
  ConsoleSubject,
  PossibleDuplicate,
  HealthReport,
  PlaygroundSettings,
} from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { formatCount } from '../../format/numbers.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import { useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { subjectsMax, useSubjects } from '../subjects/use-subjects.ts'
import { DuplicatePairRow, type ShownPair } from './duplicate-pair.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { describeMerge, useUndoMerge, type Decisions } from './use-decisions.tsx'
import './duplicates.css'

type Props = {
  readonly projectId: string
  readonly duplicates: readonly PossibleDuplicate[]
  readonly distinct: HealthReport['distinct']
  readonly decisions: Decisions
}

const pairsMax = subjectsMax / 2

const listLabel = 'Possible duplicates'

/** The pairs of subjects that are probably one person, to decide one after the other. */
export function DuplicateList({ projectId, duplicates, distinct, decisions }: Props) {
  const decided = new Set(distinct.map(({ subjectId, otherId }) => `${subjectId} ${otherId}`))
  const open = duplicates.filter((pair) => !decided.has(keyOf(pair)))
  const pairs = open.slice(0, pairsMax)
  const ids = pairs.flatMap(({ subjectA, subjectB }) => [subjectA.subjectId, subjectB.subjectId])
  const subjects = useSubjects(projectId, ids)
  const settings = useApiQuery('/playground/settings')
  if (pairs.length === 0) return <NoDuplicates decisions={decisions} />
  return (
    <QueryContent query={settings}>
      {(loaded) => (
        <QueryContent query={subjects}>
          {({ items }) => {
            const shown = shownPairs(pairs, items)
            if (shown.length === 0) return <NoDuplicates decisions={decisions} />
            return (
              <>
                {open.length > pairs.length && (
                  <Text size="sm">
                    The {formatCount(pairs.length)} most similar of {formatCount(open.length)}{' '}
                    pairs.
                  </Text>
                )}
                <PairList
                  projectId={projectId}
                  pairs={shown}
                  settings={loaded}
                  decisions={decisions}
                />
              </>
            )
          }}
        </QueryContent>
      )}
    </QueryContent>
  )
}

/** Decisions have the smaller id first. */
function keyOf({ subjectA, subjectB }: PossibleDuplicate): string {
  return [subjectA.subjectId, subjectB.subjectId].toSorted().join(' ')
}

/** Returns the pairs whose subjects both exist: a merge deletes one of them. */
function shownPairs(
  pairs: readonly PossibleDuplicate[],
  subjects: readonly ConsoleSubject[],
): readonly ShownPair[] {
  const byId = new Map(subjects.map((subject) => [subject.subjectId, subject]))
  return pairs.flatMap((pair) => {
    const a = byId.get(pair.subjectA.subjectId)
    const b = byId.get(pair.subjectB.subjectId)
    if (!a || !b) return []
    return [{ key: keyOf(pair), pair, subjects: isKeptFirst(a, b) ? [a, b] : [b, a] } as const]
  })
}

function isKeptFirst(a: ConsoleSubject, b: ConsoleSubject): boolean {
  if (a.embeddingCount !== b.embeddingCount) return a.embeddingCount > b.embeddingCount
  return a.createdAtUtc <= b.createdAtUtc
}

function NoDuplicates({ decisions }: Pick<Props, 'decisions'>) {
  const undoLast = useHasRole('admin') ? decisions.undoLast : undefined
  return (
    <section aria-label={listLabel}>
      {/* It receives the focus of the last pair. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div
        className="fg-panel"
        data-row
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key === 'u' && !hasModifier(event)) void undoLast?.()
        }}
      >
        <EmptyState
          title="No possible duplicates"
          action={
            undoLast && (
              <Button size="compact-sm" variant="default" onClick={() => void undoLast()}>
                Undo the last decision
              </Button>
            )
          }
        >
          No two subjects of the last check are probably one person, or all pairs are decided. Check
          the gallery again after larger enrollments.
        </EmptyState>
      </div>
    </section>
  )
}

type PairListProps = Pick<Props, 'projectId' | 'decisions'> & {
  readonly pairs: readonly ShownPair[]
  readonly settings: PlaygroundSettings
}

function PairList({ projectId, pairs, settings, decisions }: PairListProps) {
  const mayWrite = useHasRole('admin')
  const [toMerge, setToMerge] = useState<ShownPair>()
  const undoMerge = useUndoMerge(projectId)
  const crops = useCroppedFaces(
    projectId,
    pairs.flatMap(({ subjects }) => subjects.map(({ subjectId }) => subjectId)),
  )
  const markDistinct = ({ subjects }: ShownPair): void =>
    void decisions.markDistinct(subjects).catch(() => undefined)
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const shown = handledPair(event, pairs)
    if (shown === undefined || !mayWrite) return
    if (event.key === 'm') setToMerge(shown)
    if (event.key === 'n') markDistinct(shown)
    if (event.key === 'u') void decisions.undoLast?.()
  }
  return (
    <Stack gap="sm">
      <ErrorNotice title="Couldn't store the decision" error={decisions.error} />
      <KeyHints mayWrite={mayWrite} />
      <section aria-label={listLabel}>
        {/* The pairs inside have the focus. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <ul className="fg-pairs" onKeyDown={onKeyDown}>
          {pairs.map((shown, index) => (
            <DuplicatePairRow
              key={shown.key}
              projectId={projectId}
              shown={shown}
              label={`Pair ${index + 1} of ${pairs.length}: ${shown.subjects.map(subjectNameOf).join(' and ')}`}
              faceIdOf={(subjectId) => crops.get(subjectId)?.[0]}
              settings={settings}
              onMerge={mayWrite ? () => setToMerge(shown) : undefined}
              onDistinct={mayWrite ? () => markDistinct(shown) : undefined}
            />
          ))}
        </ul>
      </section>
      {toMerge && (
        <MergeDialog
          projectId={projectId}
          pair={toMerge.subjects}
          onMerged={({ mergeId, kept, ended }) => {
            setToMerge(undefined)
            decisions.record({ ...describeMerge(kept, ended), undo: () => undoMerge(mergeId) })
          }}
          onClose={() => setToMerge(undefined)}
        />
      )}
    </Stack>
  )
}

function KeyHints({ mayWrite }: { readonly mayWrite: boolean }) {
  return (
    <Text size="xs" c="dimmed" visibleFrom="xs">
      Keys in the list: <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd>
      <VisuallyHidden> (arrow keys)</VisuallyHidden> between the pairs
      {mayWrite && (
        <>
          , <Kbd size="xs">M</Kbd> same person, <Kbd size="xs">N</Kbd> not the same,{' '}
          <Kbd size="xs">U</Kbd> undo the last decision
        </>
      )}
      . Siblings can be listed too: compare before you decide.
    </Text>
  )
}

/**
 * Moves the focus with the arrow keys. Returns the pair that has the focus when another key without
 * modifier was pressed.
 */
function handledPair(
  event: KeyboardEvent<HTMLElement>,
  pairs: readonly ShownPair[],
): ShownPair | undefined {
  const { target, key } = event
  if (!(target instanceof HTMLElement) || hasModifier(event)) return undefined
  const rows = [...event.currentTarget.children] as HTMLElement[]
  const index = rows.findIndex((row) => row.contains(target))
  const step = { ArrowDown: 1, ArrowUp: -1 }[key]
  if (step === undefined) return pairs[index]
  const next = rows[index + step]
  if (!next) return undefined
  event.preventDefault()
  next.focus()
  return undefined
}

function hasModifier({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey
}
