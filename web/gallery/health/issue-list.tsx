import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryIssue, MeasuredHealth, CheckedSubject } from '../../api/responses.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { formatCount } from '../../format/numbers.ts'
import type { NamedSubject } from '../../format/subject-name.ts'
import { SubjectLink } from '../subjects/subject-link.tsx'
import { SubjectThumbnail, useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { useSubjects } from '../subjects/use-subjects.ts'
import { healthIssues, issueTexts } from './issue-texts.ts'
import { SubjectIssues } from './subject-issues.tsx'

type Props = {
  readonly projectId: string
  readonly result: MeasuredHealth['result']
  /** Shows only subjects with this issue. */
  readonly issue: GalleryIssue | undefined
  readonly onIssueChange: (issue: GalleryIssue | undefined) => void
}

/** The subjects of one step of the list, so that their names fit into one request. */
const stepRows = 25

/** The subjects with an issue, the most urgent first. */
export function IssueList({ projectId, result, issue, onIssueChange }: Props) {
  const [rows, setRows] = useState(stepRows)
  const found = issue
    ? result.results.filter(({ issues }) => issues.includes(issue))
    : result.results
  const total = issue ? result.issues[issue] : found.length
  return (
    <Stack gap="sm">
      <IssueFilter
        counts={result.issues}
        issue={issue}
        onChange={(chosen) => {
          setRows(stepRows)
          onIssueChange(chosen)
        }}
      />
      {found.length === 0 && (
        <div className="fg-panel">
          <EmptyState title="No issues">
            Every picture matches its person, and no two people are too similar.
          </EmptyState>
        </div>
      )}
      {Array.from({ length: Math.ceil(Math.min(rows, found.length) / stepRows) }, (_, step) => (
        <IssueStep
          key={step}
          projectId={projectId}
          results={found.slice(step * stepRows, (step + 1) * stepRows)}
        />
      ))}
      {found.length > rows && (
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {formatCount(rows)} of {formatCount(total)} people
          </Text>
          <Button size="xs" variant="default" onClick={() => setRows(rows + stepRows)}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type IssueFilterProps = {
  readonly counts: MeasuredHealth['result']['issues']
  readonly issue: GalleryIssue | undefined
  readonly onChange: (issue: GalleryIssue | undefined) => void
}

function IssueFilter({ counts, issue, onChange }: IssueFilterProps) {
  const present = healthIssues.filter((name) => counts[name] > 0)
  if (present.length === 0) return null
  return (
    <Group gap="xs">
      <FilterButton isOn={issue === undefined} onClick={() => onChange(undefined)}>
        All issues
      </FilterButton>
      {present.map((name) => (
        <FilterButton key={name} isOn={issue === name} onClick={() => onChange(name)}>
          {`${issueTexts[name].name}: ${formatCount(counts[name])}`}
        </FilterButton>
      ))}
    </Group>
  )
}

type FilterButtonProps = {
  readonly isOn: boolean
  readonly onClick: () => void
  readonly children: string
}

function FilterButton({ isOn, onClick, children }: FilterButtonProps) {
  return (
    <Button
      size="compact-sm"
      variant={isOn ? 'filled' : 'default'}
      aria-pressed={isOn}
      onClick={onClick}
    >
      {children}
    </Button>
  )
}

type IssueStepProps = {
  readonly projectId: string
  readonly results: readonly CheckedSubject[]
}

function IssueStep({ projectId, results }: IssueStepProps) {
  const ids = results.map(({ subjectId }) => subjectId)
  const others = results.flatMap(({ lookAlikes, pictures }) => [
    ...lookAlikes.map(({ subjectId }) => subjectId),
    ...pictures.flatMap(({ belongsTo }) => belongsTo?.subjectId ?? []),
  ])
  const subjects = useSubjects(projectId, [...ids, ...others])
  const crops = useCroppedFaces(projectId, ids)
  return (
    <QueryContent query={subjects}>
      {({ items }) => {
        const byId = new Map(items.map((item) => [item.subjectId, item]))
        const named = (subject: NamedSubject): NamedSubject =>
          byId.get(subject.subjectId) ?? subject
        return results.map((health) => {
          const subject = byId.get(health.subjectId)
          // It was deleted or merged after the check.
          if (!subject) return null
          const croppedFaces = crops.get(subject.subjectId) ?? []
          return (
            <section key={subject.subjectId} className="fg-panel fg-issue">
              <SubjectThumbnail
                projectId={projectId}
                subjectId={subject.subjectId}
                faceId={croppedFaces[0]}
                sizePx={72}
              />
              <Stack gap="xs" miw={0}>
                <SubjectLink subject={subject} />
                <SubjectIssues
                  projectId={projectId}
                  subject={subject}
                  health={health}
                  croppedFaces={croppedFaces}
                  named={named}
                />
              </Stack>
            </section>
          )
        })
      }}
    </QueryContent>
  )
}
