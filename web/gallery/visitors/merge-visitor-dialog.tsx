import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import type { ConsoleSubject, ConsoleVisitor } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { SubjectChoice } from '../subjects/named-faces.tsx'
import { VisitorSummary } from './visitor-summary.tsx'

type Props = {
  readonly projectId: string
  readonly visitor: ConsoleVisitor
  /** The subject, if it is known; else it is chosen in the dialog. */
  readonly subject?: ConsoleSubject
  readonly onMerged: (subjectId: string) => void
  readonly onClose: () => void
}

/** Adds the faces of a visitor to a subject. */
export function MergeVisitorDialog({ projectId, visitor, subject, onMerged, onClose }: Props) {
  const { visitorId } = visitor
  const [chosen, setChosen] = useState<ConsoleSubject | undefined>(subject)
  const merge = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/visitors/:visitorId/merge',
    removedPath: '/projects/:projectId/visitors/:visitorId',
    onSuccess: ({ subjectId }) => onMerged(subjectId),
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title="Merge the visitor with a subject"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!chosen) return
          const body = { subjectId: chosen.subjectId }
          merge.mutate({ pathParams: { projectId, visitorId }, body })
        }}
      >
        <Stack gap="sm">
          <VisitorSummary projectId={projectId} visitor={visitor} />
          {!subject && <SubjectSearch projectId={projectId} chosen={chosen} onChange={setChosen} />}
          <Text size="sm">
            {chosen ? <strong>{subjectNameOf(chosen)}</strong> : 'The subject'} gets the templates
            and the stored pictures of the visitor. The visitor then no longer exists. This cannot
            be undone. Compare the faces first: a wrong face makes the subject match another person.
          </Text>
          <ErrorNotice title="Couldn't merge the visitor" error={merge.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!chosen} loading={merge.isPending}>
              Merge
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

type SearchProps = {
  readonly projectId: string
  readonly chosen: ConsoleSubject | undefined
  readonly onChange: (subject: ConsoleSubject | undefined) => void
}

const searchDelayMs = 250
const shownMax = 6

/** Finds subjects by their names, and selects one. */
function SubjectSearch({ projectId, chosen, onChange }: SearchProps) {
  const [typed, setTyped] = useState('')
  const [searched] = useDebouncedValue(typed.trim(), searchDelayMs)
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams: { projectId },
    query: { q: searched || undefined, sort: 'name', limit: shownMax },
  })
  const subjects = query.data?.items ?? []
  const choose = (id: string): void => onChange(subjects.find(({ subjectId }) => subjectId === id))
  return (
    <>
      <TextInput
        size="xs"
        label="Find the subject by name or external id"
        value={typed}
        data-autofocus
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <SubjectChoice
        projectId={projectId}
        label="Subject"
        subjects={subjects}
        value={chosen?.subjectId ?? ''}
        onChange={choose}
        sizePx={44}
      />
      {query.data && subjects.length === 0 && <Text size="sm">No subject was found.</Text>}
      <ErrorNotice title="Couldn't search" error={query.error} />
    </>
  )
}
