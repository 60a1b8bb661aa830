import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleSubject, ConsoleVisitor } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { shortIdOf } from '../../format/subject-name.ts'
import { MergeVisitorDialog } from './merge-visitor-dialog.tsx'
import { VisitorSummary } from './visitor-summary.tsx'

type Props = { readonly projectId: string; readonly subject: ConsoleSubject }

/** The visitors that were probably this person. */
export function SubjectVisitors({ projectId, subject }: Props) {
  const { subjectId } = subject
  const [toMerge, setToMerge] = useState<ConsoleVisitor>()
  const project = useApiQuery('/projects/:projectId', { pathParams: { projectId } })
  const query = useApiQuery('/projects/:projectId/subjects/:subjectId/visitors', {
    pathParams: { projectId, subjectId },
  })
  const isOff = project.data?.switches.unknownPeople !== true
  if (isOff && !query.data?.items.length) return null
  return (
    <Stack gap="sm" component="section" aria-label="Visitors">
      <Title order={3}>Visitors</Title>
      <QueryContent query={query}>
        {({ items }) => (
          <>
            <Text size="sm">
              {items.length === 0
                ? 'No visitor resembles this person.'
                : 'This person was probably seen before as:'}
            </Text>
            {items.map((visitor) => (
              <VisitorRow
                key={visitor.visitorId}
                projectId={projectId}
                visitor={visitor}
                onMerge={() => setToMerge(visitor)}
              />
            ))}
          </>
        )}
      </QueryContent>
      {toMerge && (
        <MergeVisitorDialog
          projectId={projectId}
          visitor={toMerge}
          subject={subject}
          onMerged={() => setToMerge(undefined)}
          onClose={() => setToMerge(undefined)}
        />
      )}
    </Stack>
  )
}

type VisitorRowProps = {
  readonly projectId: string
  readonly visitor: ConsoleVisitor
  readonly onMerge: () => void
}

function VisitorRow({ projectId, visitor, onMerge }: VisitorRowProps) {
  const { visitorId } = visitor
  const mayWrite = useHasRole('admin')
  return (
    <Group justify="space-between">
      <VisitorSummary projectId={projectId} visitor={visitor} />
      <Group gap="xs">
        <LinkButton
          size="xs"
          variant="default"
          to="/subjects"
          search={{ projectId, tab: 'visitors', visitor: visitorId }}
          aria-label={`Open visitor ${shortIdOf(visitorId)}`}
        >
          Open
        </LinkButton>
        {mayWrite && (
          <Button
            size="xs"
            variant="default"
            aria-label={`Merge visitor ${shortIdOf(visitorId)}`}
            onClick={onMerge}
          >
            Merge
          </Button>
        )}
      </Group>
    </Group>
  )
}
