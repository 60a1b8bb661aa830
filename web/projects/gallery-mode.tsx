import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryModePreview, Project } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useAnswer, useSend } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Facts } from '../parts/facts.tsx'
import { countOf } from '../parts/numbers.ts'

/** Whom the project shares its subjects with, and the switch between the two, said plainly. */
export function GalleryMode({ project }: { readonly project: Project }) {
  const mayWrite = useMay('admin')
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
      {isAsking && <SwitchMode project={project} onClose={() => setIsAsking(false)} />}
    </Stack>
  )
}

type Parts = { readonly project: Project; readonly onClose: () => void }

function SwitchMode({ project, onClose }: Parts) {
  const preview = useAnswer('/projects/:projectId/gallery-mode-preview', {
    parts: { projectId: project.projectId },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title="Switch the gallery mode"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Answered asked={preview}>
        {(facts) => <Decision project={project} preview={facts} onClose={onClose} />}
      </Answered>
    </Modal>
  )
}

function Decision({ project, preview, onClose }: Parts & { readonly preview: GalleryModePreview }) {
  const save = useSend({ method: 'PATCH', path: '/projects/:projectId', onDone: onClose })
  const { from, to, statement } = preview
  return (
    <Stack>
      <Text size="sm">{statement}</Text>
      <Facts
        facts={{
          Mode: `${from} → ${to}`,
          'Subjects seen now': countOf(preview.subjectsSeenNow),
          'Subjects seen then': countOf(preview.subjectsSeenThen),
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
              parts: { projectId: project.projectId },
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
