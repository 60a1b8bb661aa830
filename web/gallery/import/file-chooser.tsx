import { Text } from '@mantine/core'
import { ChooseFilesButton } from '../../components/files/choose-files-button.tsx'
import { FileDropZone } from '../../components/files/file-drop-zone.tsx'

type Props = { readonly onChoose: (files: readonly File[]) => void }

/** Chooses a list and its pictures together, also by drag and drop. */
export function FileChooser({ onChoose }: Props) {
  return (
    <FileDropZone onDrop={onChoose}>
      <Text size="sm" mb="xs">
        Drop a list (CSV), and its pictures if it has any, or
      </Text>
      <ChooseFilesButton
        label="List and pictures"
        accept=".csv,text/csv,image/jpeg,image/png"
        onChoose={onChoose}
      />
      <Text size="xs" c="dimmed" mt="xs">
        Choose the list and all its pictures at once. Nothing is sent before you start the import.
      </Text>
    </FileDropZone>
  )
}
