import { Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { IconCamera, IconUpload, IconX } from '@tabler/icons-react'
import { useCallback, useEffect, useState } from 'react'
import { ImageCanvas } from './image-canvas.tsx'
import { readPlaygroundImage, type PlaygroundImage } from './playground-image.ts'
import { CameraDialog } from './camera-dialog.tsx'

type Props = {
  readonly images: readonly PlaygroundImage[]
  readonly imagesMax: number
  readonly onChange: (pictures: readonly PlaygroundImage[]) => void
}

/** Takes pictures by choosing, dropping, pasting or with the camera. They never leave the browser before the call. */
export function ImagePicker({ images: pictures, imagesMax: max, onChange }: Props) {
  const [isOver, setIsOver] = useState(false)
  const [isFilming, setIsFilming] = useState(false)
  const add = useCallback(
    async (files: readonly File[]) => {
      const read = await Promise.all(files.map(readPlaygroundImage))
      // More than fit push the oldest out: what was added last is what one means.
      onChange([...pictures, ...read].slice(-max))
    },
    [pictures, max, onChange],
  )
  usePaste(add)
  return (
    <Stack gap="xs">
      {/* Dropping is an extra: the buttons inside do the same for the keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div
        className="fg-drop"
        data-over={isOver ? '' : undefined}
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setIsOver(false)
          void add([...event.dataTransfer.files])
        }}
      >
        <Text size="sm">Drop pictures here, paste them, or</Text>
        <Group justify="center" gap="xs" mt="xs">
          <FileButton
            multiple
            accept="image/*"
            inputProps={{ 'aria-label': 'Pictures' }}
            onChange={(files) => void add(files)}
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
          <Button
            size="xs"
            variant="default"
            leftSection={<IconCamera size={14} aria-hidden />}
            onClick={() => setIsFilming(true)}
          >
            Camera
          </Button>
        </Group>
        <Text size="xs" c="dimmed" mt="xs">
          {max === 1 ? 'One picture' : `Up to ${max} pictures`}, kept in this tab’s memory; only the
          call itself sends anything.
        </Text>
      </div>
      <ImageList images={pictures} onChange={onChange} />
      {isFilming && (
        <CameraDialog
          onCapture={(file) => {
            setIsFilming(false)
            void add([file])
          }}
          onClose={() => setIsFilming(false)}
        />
      )}
    </Stack>
  )
}

function usePaste(add: (files: readonly File[]) => Promise<void>): void {
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) =>
        type.startsWith('image/'),
      )
      if (files.length > 0) void add(files)
    }
    window.addEventListener('paste', onPaste)
    return () => window.removeEventListener('paste', onPaste)
  }, [add])
}

type ImageListProps = Pick<Props, 'images' | 'onChange'>

function ImageList({ images: pictures, onChange }: ImageListProps) {
  if (pictures.length === 0) return null
  return (
    <Group gap="sm" align="flex-end">
      {pictures.map((picture, i) => (
        <Stack key={picture.id} gap={2} className="fg-thumb">
          {picture.bitmap && <ImageCanvas bitmap={picture.bitmap} sideMax={192} />}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Remove picture ${i}: ${picture.name}`}
            rightSection={<IconX size={12} aria-hidden />}
            onClick={() => onChange(pictures.filter(({ id }) => id !== picture.id))}
          >
            {i}
          </Button>
        </Stack>
      ))}
    </Group>
  )
}
