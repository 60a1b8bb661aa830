import { Anchor, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleSubject, SuspectedDuplicate } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { MergeDialog } from '../../gallery/duplicates/merge-dialog.tsx'
import { SubjectThumbnail, useCroppedFaces } from '../../gallery/subjects/subject-thumbnail.tsx'
import { subjectsMax, useSubjects } from '../../gallery/subjects/use-subjects.ts'
import { DataTable } from '../../lists/data-table.tsx'

type Props = {
  readonly projectId: string
  /** The excluded pairs first. */
  readonly pairs: readonly SuspectedDuplicate[]
  readonly tickedKeys: ReadonlySet<string>
  readonly onChange: (tickedKeys: ReadonlySet<string>) => void
}

/** Identifies a pair in the list. */
export function pairKeyOf({ subjectA, subjectB }: SuspectedDuplicate): string {
  return `${subjectA.subjectId} ${subjectB.subjectId}`
}

/** Pairs of subjects that are probably one person. A tick leaves a pair out, a merge corrects the gallery. */
export function SuspectedDuplicates({ projectId, pairs, tickedKeys, onChange }: Props) {
  const mayMerge = useHasRole('admin')
  const [merging, setMerging] = useState<readonly [ConsoleSubject, ConsoleSubject]>()
  const { byId, faceIdOf } = useSubjectsOf(projectId, pairs)
  const change = (key: string, isTicked: boolean): void =>
    onChange(isTicked ? tickedKeys.union(new Set([key])) : tickedKeys.difference(new Set([key])))
  return (
    <section>
      <Text fw={600}>Suspected duplicates</Text>
      <Text size="sm" c="dimmed">
        Fewer than one pair of different people is expected to reach these scores. Compare the
        faces: siblings are listed too. Merge a pair that is one person, or tick it to leave it out.
      </Text>
      <DataTable
        caption="Suspected duplicates"
        rows={pairs}
        rowKey={pairKeyOf}
        columns={[
          {
            name: 'Same person',
            renderCell: (pair) => (
              <Checkbox
                aria-label={`Same person: ${namesOf(pair, byId)}`}
                checked={tickedKeys.has(pairKeyOf(pair))}
                onChange={(event) => change(pairKeyOf(pair), event.currentTarget.checked)}
              />
            ),
          },
          ...(['subjectA', 'subjectB'] as const).map((key) => ({
            name: key === 'subjectA' ? 'First subject' : 'Second subject',
            renderCell: (pair: SuspectedDuplicate) => {
              const { subjectId } = pair[key]
              const subject = byId.get(subjectId) ?? pair[key]
              return <Suspect {...{ projectId, subject }} faceId={faceIdOf(subjectId)} />
            },
          })),
          {
            name: 'Similarity',
            renderCell: ({ similarity, expected }) => (
              <span className="fg-row-line">
                {similarity.toFixed(3)}
                <Text size="xs" c="dimmed">
                  {expected.toPrecision(2)} expected
                </Text>
              </span>
            ),
          },
          {
            name: 'Actions',
            renderCell: (pair) => (
              <MergeButton
                subjects={subjectsOf(pair, byId)}
                isOffered={mayMerge}
                onMerge={setMerging}
              />
            ),
          },
        ]}
        empty={<EmptyState title="No suspected duplicates">All subjects differ.</EmptyState>}
      />
      {merging && (
        <MergeDialog
          projectId={projectId}
          pair={merging}
          onMerged={() => setMerging(undefined)}
          onClose={() => setMerging(undefined)}
        />
      )}
    </section>
  )
}

type SubjectsById = ReadonlyMap<string, ConsoleSubject>
type MergeablePair = readonly [ConsoleSubject, ConsoleSubject]

/** Finds the names and the best faces of the subjects; deleted and merged ones are left out. */
function useSubjectsOf(projectId: string, pairs: readonly SuspectedDuplicate[]) {
  const all = pairs.flatMap(({ subjectA, subjectB }) => [subjectA.subjectId, subjectB.subjectId])
  const ids = [...new Set(all)].slice(0, subjectsMax)
  const found = useSubjects(projectId, ids)
  const faces = useCroppedFaces(projectId, ids)
  const byId: SubjectsById = new Map(
    (found.data?.items ?? []).map((subject) => [subject.subjectId, subject]),
  )
  return { byId, faceIdOf: (subjectId: string) => faces.get(subjectId)?.[0] }
}

/** Returns the two subjects of a pair if both exist. */
function subjectsOf(
  { subjectA, subjectB }: SuspectedDuplicate,
  byId: SubjectsById,
): MergeablePair | undefined {
  const [first, second] = [byId.get(subjectA.subjectId), byId.get(subjectB.subjectId)]
  return first && second ? [first, second] : undefined
}

function namesOf({ subjectA, subjectB }: SuspectedDuplicate, byId: SubjectsById): string {
  const nameOf = (subject: SuspectedDuplicate['subjectA']) =>
    subjectNameOf(byId.get(subject.subjectId) ?? subject)
  return `${nameOf(subjectA)} and ${nameOf(subjectB)}`
}

type SuspectProps = {
  readonly projectId: string
  readonly subject: ConsoleSubject | SuspectedDuplicate['subjectA']
  readonly faceId: string | undefined
}

/** The face and the name of a subject. The name opens its details. */
function Suspect({ projectId, subject, faceId }: SuspectProps) {
  const { subjectId } = subject
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <SubjectThumbnail {...{ projectId, subjectId, faceId }} sizePx={48} />
      <Stack gap={0} miw={0}>
        <Anchor
          size="sm"
          fw={600}
          title={subjectId}
          style={{ overflowWrap: 'anywhere' }}
          renderRoot={(props) => (
            <Link {...props} to="/subjects" search={{ projectId, subject: subjectId }} />
          )}
        >
          {subjectNameOf(subject)}
        </Anchor>
        {subject.externalId !== null && subject.externalId !== subjectNameOf(subject) && (
          <Text size="xs" c="dimmed">
            {subject.externalId}
          </Text>
        )}
      </Stack>
    </Group>
  )
}

type MergeButtonProps = {
  readonly subjects: MergeablePair | undefined
  readonly isOffered: boolean
  readonly onMerge: (subjects: MergeablePair) => void
}

function MergeButton({ subjects, isOffered, onMerge }: MergeButtonProps) {
  if (!isOffered || !subjects) return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Merge ${subjects.map(subjectNameOf).join(' and ')}`}
      onClick={() => onMerge(subjects)}
    >
      Merge
    </Button>
  )
}
