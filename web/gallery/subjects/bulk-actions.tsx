import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { csvUrl } from '../../api/api.ts'
import { useHasRole } from '../../api/session.ts'
import { formatCount } from '../../format/numbers.ts'
import { ChangeGroupsDialog } from './change-groups-dialog.tsx'
import { DeleteSubjectsDialog } from './delete-subjects-dialog.tsx'
import { selectionMax, type SubjectSelection } from './selection.ts'

type Props = { readonly projectId: string; readonly selection: SubjectSelection }

/** What can be done with the chosen subjects. */
export function BulkActions({ projectId, selection }: Props) {
  const mayWrite = useHasRole('admin')
  const [dialog, setDialog] = useState<'groups' | 'delete'>()
  const { subjects } = selection
  const subjectIds = subjects.map(({ subjectId }) => subjectId).join(',')
  const close = (): void => setDialog(undefined)
  return (
    <section className="fg-panel fg-bulk" aria-label="Selected subjects">
      <Group justify="space-between" gap="xs">
        <Text size="sm" component="output" display="block">
          {formatCount(subjects.length)} selected
          {selection.isFull && `. At most ${selectionMax} subjects can be selected.`}
        </Text>
        <Group gap="xs">
          {mayWrite && (
            <Button size="xs" variant="default" onClick={() => setDialog('groups')}>
              Change groups
            </Button>
          )}
          <Button
            component="a"
            href={csvUrl('/projects/:projectId/subjects', { projectId }, { subjectIds })}
            download
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
          >
            Export CSV
          </Button>
          {mayWrite && (
            <Button size="xs" className="fg-danger" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          )}
          <Button size="xs" variant="subtle" onClick={selection.clear}>
            Clear selection
          </Button>
        </Group>
      </Group>
      {dialog === 'groups' && (
        <ChangeGroupsDialog projectId={projectId} subjects={subjects} onClose={close} />
      )}
      {dialog === 'delete' && (
        <DeleteSubjectsDialog
          projectId={projectId}
          subjects={subjects}
          onDeleted={(count) => {
            notifications.show({ message: `${formatCount(count)} deleted` })
            selection.clear()
          }}
          onClose={close}
        />
      )}
    </section>
  )
}
