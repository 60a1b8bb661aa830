import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { IconCamera, IconX } from '@tabler/icons-react'
import { useCallback, useState } from 'react'
import { ChooseFilesButton } from '../../components/files/choose-files-button.tsx'
import { FileDropZone } from '../../components/files/file-drop-zone.tsx'
import { usePastedFiles } from '../../components/files/use-pasted-files.ts'
import { CameraDialog } from './camera-dialog.tsx'
import { ImageCanvas } from './image-canvas.tsx'
import type { ImageCount } from './image-count.ts'
import { fitImages, type FileLimits } from './image-refusal.ts'
import { readCheckedFile, type PlaygroundImage } from './playground-image.ts'

type Props = {
  readonly images: readonly PlaygroundImage[]
  readonly imageCount: ImageCount
  readonly limits: FileLimits
  readonly onChange: (images: readonly PlaygroundImage[]) => void
}

/**
 * Adds images from files, drag and drop, the clipboard or the camera. Images stay in the browser until
 * the call is sent. Files that the service would refuse are not added.
 */
export function ImagePicker({ images, imageCount, limits, onChange }: Props) {
  const [isCameraOpen, setIsCameraOpen] = useState(false)
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const add = useCallback(
    async (files: readonly File[]) => {
      const read = await Promise.all(files.map((file) => readCheckedFile(file, limits)))
      const valid = read.flatMap((result) => ('image' in result ? [result.image] : []))
      const invalid = read.flatMap((result) => ('refusal' in result ? [result.refusal] : []))
      const fitted = fitImages(images, valid, { ...limits, countMax: imageCount.max })
      onChange(fitted.accepted)
      setRefusals([...invalid, ...fitted.refusals])
    },
    [images, imageCount.max, limits, onChange],
  )
  usePastedFiles(add)
  return (
    <Stack gap="xs">
      <FileDropZone onDrop={(files) => void add(files)}>
        <Text size="sm" visibleFrom="xs">
          Drop or paste images here, or
        </Text>
        <Group justify="center" gap="xs" mt="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconCamera size={14} aria-hidden />}
            onClick={() => setIsCameraOpen(true)}
          >
            Camera
          </Button>
          <ChooseFilesButton
            label="Images"
            accept="image/jpeg,image/png"
            onChoose={(files) => void add(files)}
          />
        </Group>
        <Text size="xs" c="dimmed" mt="xs">
          {imageCount.text}. Images stay in this browser tab until you run the action.
        </Text>
      </FileDropZone>
      <RefusalNotice refusals={refusals} onClose={() => setRefusals([])} />
      <ImageList images={images} onChange={onChange} />
      {isCameraOpen && (
        <CameraDialog
          onCapture={(file) => {
            setIsCameraOpen(false)
            void add([file])
          }}
          onClose={() => setIsCameraOpen(false)}
        />
      )}
    </Stack>
  )
}

type RefusalNoticeProps = { readonly refusals: readonly string[]; readonly onClose: () => void }

function RefusalNotice({ refusals, onClose }: RefusalNoticeProps) {
  if (refusals.length === 0) return null
  return (
    <Alert
      role="alert"
      variant="default"
      title={refusals.length === 1 ? 'File not added' : `${refusals.length} files not added`}
      withCloseButton
      closeButtonLabel="Close this message"
      onClose={onClose}
    >
      <List size="sm">
        {refusals.map((refusal) => (
          <List.Item key={refusal}>{refusal}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

type ImageListProps = Pick<Props, 'images' | 'onChange'>

function ImageList({ images, onChange }: ImageListProps) {
  if (images.length === 0) return null
  return (
    <Group gap="sm" align="flex-end">
      {images.map((image, index) => (
        <Stack key={image.id} gap={2} className="fg-thumb">
          {image.bitmap && <ImageCanvas bitmap={image.bitmap} sideMax={192} />}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Remove image ${index}: ${image.name}`}
            rightSection={<IconX size={12} aria-hidden />}
            onClick={() => onChange(images.filter(({ id }) => id !== image.id))}
          >
            {index}
          </Button>
        </Stack>
      ))}
    </Group>
  )
}
