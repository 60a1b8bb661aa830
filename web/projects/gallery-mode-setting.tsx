import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GalleryModePreview, ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApi, useApiQuery } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { showUndo } from '../components/confirm/undo-notification.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatCount } from '../format/numbers.ts'
import { useSaveProject, useUndoChange, type SavedChange } from './project-change.ts'

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
  const pathParams = { projectId: project.projectId }
  const query = useApiQuery('/projects/:projectId/gallery-mode-preview', { pathParams })
  const preview = query.data
  const undo = useUndoSwitch(project)
  const { save, isPending, error } = useSaveProject(project, {
    onSuccess: (saved, change) => {
      onClose()
      showUndo({
        message: `The gallery is ${saved.galleryMode}.`,
        undo: () => undo(saved, change),
        undoneMessage: `The gallery is ${saved.replaced.galleryMode} again.`,
      })
    },
  })
  return (
    <ConfirmDialog
      title="Switch gallery mode"
      confirmationText={project.name}
      confirmLabel={`Switch to ${preview?.to ?? 'the other mode'}`}
      isReady={preview !== undefined}
      isPending={isPending}
      errorTitle="Couldn't switch gallery mode"
      error={error ?? query.error}
      onConfirm={() => {
        if (preview) save({ galleryMode: galleryModeOf(preview.to), statement: preview.statement })
      }}
      onClose={onClose}
    >
      {preview ? <GalleryModeEffect preview={preview} /> : 'Counting subjects…'}
    </ConfirmDialog>
  )
}

function GalleryModeEffect({ preview }: { readonly preview: GalleryModePreview }) {
  const { from, to, statement, subjectsSeenNow, subjectsSeenThen } = preview
  return (
    <>
      <p>{statement}</p>
      <DefinitionList
        items={{
          Mode: `${from} → ${to}`,
          'Accessible subjects now': formatCount(subjectsSeenNow),
          'Accessible subjects after the switch': formatCount(subjectsSeenThen),
        }}
      />
      <p>
        No subject is deleted. Subjects that are enrolled after the switch stay in the gallery of
        the new mode.
      </p>
    </>
  )
}

/** Returns a function that switches back, with the statement of that switch. */
function useUndoSwitch(project: ConsoleProject) {
  const api = useApi()
  const undo = useUndoChange(project)
  return async (...saved: SavedChange): Promise<void> => {
    const { statement } = await api.get('/projects/:projectId/gallery-mode-preview', {
      pathParams: { projectId: project.projectId },
    })
    await undo(...saved, statement)
  }
}

function galleryModeOf(text: string): ConsoleProject['galleryMode'] {
  return text === 'shared' ? 'shared' : 'isolated'
}
