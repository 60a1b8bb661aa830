import { Button, FileButton, Text } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'

type Props = { readonly onChoose: (files: readonly File[]) => void }

/** Chooses a list and its pictures together, also by drag and drop. */
export function FileChooser({ onChoose }: Props) {
  const [isDragOver, setIsDragOver] = useState(false)
  return (
    // Drag and drop is optional: the button offers the same with the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className="fg-drop-zone"
      data-over={isDragOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsDragOver(true)
      }}
      onDragLeave={() => setIsDragOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsDragOver(false)
        onChoose([...event.dataTransfer.files])
      }}
    >
      <Text size="sm" mb="xs">
        Drop a list (CSV), and its pictures if it has any, or
      </Text>
      <FileButton
        multiple
        accept=".csv,text/csv,image/jpeg,image/png"
        inputProps={{ 'aria-label': 'List and pictures' }}
        onChange={onChoose}
      >
        {(props) => (
          <Button
            {...props}
            size="xs"
            variant="default"
            leftSection={<IconUpload size={14} aria-hidden />}
          >
            Choose files
          </Button>
        )}
      </FileButton>
      <Text size="xs" c="dimmed" mt="xs">
        Choose the list and all its pictures at once. Nothing is sent before you start the import.
      </Text>
    </div>
  )
}
