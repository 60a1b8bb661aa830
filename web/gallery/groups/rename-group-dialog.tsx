import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useApiMutation } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { groupProblem } from '../subjects/group-picker.tsx'

type Props = {
  readonly projectId: string
  readonly name: string
  readonly onRenamed: (name: string) => void
  readonly onClose: () => void
}

/** Renames a group of all its subjects, and in the filters of webhooks. */
export function RenameGroupDialog({ projectId, name, onRenamed, onClose }: Props) {
  const [typed, setTyped] = useState(name)
  const problem = typed === '' ? undefined : groupProblem([typed])
  const rename = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/groups/:name/rename',
    removedPath: '/projects/:projectId/groups/:name',
    onSuccess: (group) => onRenamed(group.name),
  })
  const isReady = typed !== '' && typed !== name && problem === undefined
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Rename group ${name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) rename.mutate({ pathParams: { projectId, name }, body: { name: typed } })
        }}
      >
        <Stack>
          <TextInput
            label="New name"
            value={typed}
            error={problem}
            data-autofocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Text size="sm">
            All subjects of the group and the filters of webhooks get the new name. Programs that
            search in {name} find no group with this name any more.
          </Text>
          <ErrorNotice title="Couldn't rename group" error={rename.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={rename.isPending}>
              Rename group
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
