import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryModePreview, ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery, useApiMutation } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatCount } from '../format/numbers.ts'

/** Whom the project shares its subjects with, and the switch between the two, said plainly. */
export function GalleryModeSetting({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const [isAsking, setIsAsking] = useState(false)
  const isIsolated = project.galleryMode.toLowerCase() === 'isolated'
  return (
    <Stack align="flex-start">
      <Text size="sm">
        {isIsolated
          ? 'Isolated: only this project sees the subjects that it enrolls.'
          : 'Shared: every shared project of the account sees the same subjects.'}
      </Text>
      {mayWrite && (
        <Button variant="default" size="xs" onClick={() => setIsAsking(true)}>
          Switch to {isIsolated ? 'shared' : 'isolated'}
        </Button>
      )}
      {isAsking && <SwitchGalleryModeDialog project={project} onClose={() => setIsAsking(false)} />}
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
      title="Switch the gallery mode"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryContent query={preview}>
        {(facts) => <GalleryModeConfirmation project={project} preview={facts} onClose={onClose} />}
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
        facts={{
          Mode: `${from} → ${to}`,
          'Subjects seen now': formatCount(preview.subjectsSeenNow),
          'Subjects seen then': formatCount(preview.subjectsSeenThen),
        }}
      />
      <ErrorNotice error={save.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Leave it {from}
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
          I understand: switch to {to}
        </Button>
      </Group>
    </Stack>
  )
}
