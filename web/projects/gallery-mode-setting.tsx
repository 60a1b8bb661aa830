import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryModePreview, ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatCount } from '../format/numbers.ts'

/** Shows the gallery mode of a project, and a button that switches it after a confirmation. */
export function GalleryModeSetting({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  const isIsolated = project.galleryMode.toLowerCase() === 'isolated'
  return (
    <Stack align="flex-start">
      <Text size="sm">
        {isIsolated
          ? 'Isolated: only this project can access the subjects it enrolls.'
          : 'Shared: all shared projects of the account access the same subjects.'}
      </Text>
      {mayWrite && (
        <Button variant="default" size="xs" onClick={() => setIsDialogOpen(true)}>
          Switch to {isIsolated ? 'shared' : 'isolated'}
        </Button>
      )}
      {isDialogOpen && (
        <SwitchGalleryModeDialog project={project} onClose={() => setIsDialogOpen(false)} />
      )}
    </Stack>
  )
}

type Props = { readonly project: ConsoleProject; readonly onClose: () => void }

function SwitchGalleryModeDialog({ project, onClose }: Props) {
  const preview = useApiQuery('/projects/:projectId/gallery-mode-preview', {
    pathParams: { projectId: project.projectId },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title="Switch gallery mode"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryContent query={preview}>
        {(data) => <GalleryModeConfirmation project={project} preview={data} onClose={onClose} />}
      </QueryContent>
    </Modal>
  )
}

function GalleryModeConfirmation({
  project,
  preview,
  onClose,
}: Props & { readonly preview: GalleryModePreview }) {
  const save = useApiMutation({ method: 'PATCH', path: '/projects/:projectId', onSuccess: onClose })
  const { from, to, statement } = preview
  return (
    <Stack>
      <Text size="sm">{statement}</Text>
      <DefinitionList
        items={{
          Mode: `${from} → ${to}`,
          'Accessible subjects now': formatCount(preview.subjectsSeenNow),
          'Accessible subjects after the switch': formatCount(preview.subjectsSeenThen),
        }}
      />
      <ErrorNotice title="Couldn't switch gallery mode" error={save.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={save.isPending}
          onClick={() =>
            save.mutate({
              pathParams: { projectId: project.projectId },
              body: { galleryMode: to, statement },
            })
          }
        >
          Switch to {to}
        </Button>
      </Group>
    </Stack>
  )
}
