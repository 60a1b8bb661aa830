import { Button, FileButton } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'

type Props = {
  /** The name of the file input. */
  readonly label: string
  /** The accepted types, as in HTML. */
  readonly accept: string
  readonly onChoose: (files: readonly File[]) => void
}

/** Opens the dialog of the browser in which several files can be chosen. */
export function ChooseFilesButton({ label, accept, onChoose }: Props) {
  return (
    <FileButton multiple accept={accept} inputProps={{ 'aria-label': label }} onChange={onChoose}>
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
  )
}
