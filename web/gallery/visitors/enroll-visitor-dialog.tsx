import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleVisitor } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { GroupPicker, groupProblem } from '../subjects/group-picker.tsx'
import { VisitorSummary } from './visitor-summary.tsx'

type Props = {
  readonly projectId: string
  readonly visitor: ConsoleVisitor
  readonly onEnrolled: (subjectId: string) => void
  readonly onClose: () => void
}

/** Enrolls a visitor as a new subject with a name, an external id and groups. */
export function EnrollVisitorDialog({ projectId, visitor, onEnrolled, onClose }: Props) {
  const { visitorId } = visitor
  const [displayName, setDisplayName] = useState('')
  const [externalId, setExternalId] = useState('')
  const [groups, setGroups] = useState<string[]>([])
  const promote = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/visitors/:visitorId/promote',
    removedPath: '/projects/:projectId/visitors/:visitorId',
    onSuccess: ({ subjectId }) => onEnrolled(subjectId),
  })
  const names = {
    ...(displayName.trim() !== '' && { displayName: displayName.trim() }),
    ...(externalId.trim() !== '' && { externalId: externalId.trim() }),
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title="Enroll the visitor"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (groupProblem(groups) === undefined)
            promote.mutate({ pathParams: { projectId, visitorId }, body: { ...names, groups } })
        }}
      >
        <Stack gap="sm">
          <VisitorSummary projectId={projectId} visitor={visitor} />
          <TextInput
            size="xs"
            label="Display name"
            value={displayName}
            data-autofocus
            onChange={(event) => setDisplayName(event.currentTarget.value)}
          />
          <TextInput
            size="xs"
            label="External id"
            value={externalId}
            onChange={(event) => setExternalId(event.currentTarget.value)}
          />
          <GroupPicker projectId={projectId} label="Groups" value={groups} onChange={setGroups} />
          <Text size="sm">
            The subject gets the templates and the stored pictures of the visitor. The visitor then
            no longer exists. This cannot be undone. The person must have agreed, as to every
            enrollment.
          </Text>
          <ErrorNotice title="Couldn't enroll the visitor" error={promote.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={promote.isPending}>
              Enroll
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
