import { Button, CloseButton, FileButton, Group, Stack, Text } from '@mantine/core'
import { IconPhotoSearch } from '@tabler/icons-react'
import { useCallback, useState } from 'react'
import type { ActionInfo, PlaygroundResponse, PlaygroundSettings } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { FileDropZone } from '../../components/files/file-drop-zone.tsx'
import { usePastedFiles } from '../../components/files/use-pasted-files.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { CallCost } from '../../money/call-cost.tsx'
import { CallPrice } from '../../money/call-price.tsx'
import { WithCallData } from '../../playground/call-data.tsx'
import { ImageCanvas } from '../../playground/images/image-canvas.tsx'
import { readCheckedFile, type PlaygroundImage } from '../../playground/images/playground-image.ts'
import type { ActionValues } from '../../playground/result/action-values.ts'
import { VerdictLine } from '../../playground/result/verdict-line.tsx'
import { toCall } from '../../playground/run.ts'
import { SearchResult } from '../duplicates/search-result.tsx'

type Props = {
  readonly projectId: string
  readonly onOpen: (subjectId: string) => void
}

type FormProps = Props & {
  readonly actions: readonly ActionInfo[]
  readonly settings: PlaygroundSettings
}

const actionName = 'svc.identify'
const candidatesMax = 5

/** Finds people by a picture, which is dropped, pasted or chosen, with svc.identify. */
export function PictureSearch(props: Props) {
  return <WithCallData>{(data) => <PictureSearchForm {...props} {...data} />}</WithCallData>
}

function PictureSearchForm({ projectId, actions, settings, onOpen }: FormProps) {
  const [image, setImage] = useState<PlaygroundImage>()
  const [refusal, setRefusal] = useState<string>()
  const search = useApiMutation({ method: 'POST', path: '/playground' })
  const { mutate, reset } = search
  const find = useCallback(
    async ([file]: readonly File[]) => {
      // A dialog receives the picture itself.
      if (!file || document.querySelector('[aria-modal=true]')) return
      const read = await readCheckedFile(file, settings)
      setRefusal('refusal' in read ? read.refusal : undefined)
      setImage('image' in read ? read.image : undefined)
      reset()
      if (!('image' in read)) return
      const parts = { params: { maxCandidates: candidatesMax }, images: [read.image], debug: true }
      mutate({ body: { projectId, call: toCall(actionName, parts) } })
    },
    [projectId, settings, mutate, reset],
  )
  usePastedFiles(find)
  const close = (): void => {
    setRefusal(undefined)
    setImage(undefined)
    reset()
  }
  return (
    <>
      <FileDropZone onDrop={(files) => void find(files)}>
        <Group gap="sm" justify="center">
          <Text size="sm" visibleFrom="xs">
            Find a person: drop or paste a picture, or
          </Text>
          <FileButton
            accept="image/jpeg,image/png"
            inputProps={{ 'aria-label': 'Picture to search' }}
            onChange={(file) => void find(file ? [file] : [])}
          >
            {(props) => (
              <Button
                {...props}
                size="xs"
                variant="default"
                loading={search.isPending}
                leftSection={<IconPhotoSearch size={16} aria-hidden />}
              >
                Search by picture
              </Button>
            )}
          </FileButton>
          <Text size="xs" c="dimmed" component="div" visibleFrom="xs">
            <CallPrice action={actionName} actions={actions} count={1} />
          </Text>
        </Group>
      </FileDropZone>
      {(refusal !== undefined || search.error !== null || search.data) && (
        <section className="fg-panel fg-picture-result" aria-label="Result of the search">
          <Group justify="space-between" align="flex-start" wrap="nowrap">
            <Stack gap="sm" style={{ flex: 1, minWidth: 0 }}>
              {refusal !== undefined && <Text size="sm">{refusal}</Text>}
              <ErrorNotice title="Couldn't search" error={search.error} />
              {search.data && (
                <SearchResult
                  projectId={projectId}
                  response={search.data}
                  settings={settings}
                  candidatesOf={candidatesOf}
                  withThreshold
                  onOpen={onOpen}
                >
                  {(value) => (
                    <SearchedPicture image={image} response={search.data} value={value} />
                  )}
                </SearchResult>
              )}
            </Stack>
            <CloseButton aria-label="Close the result" onClick={close} />
          </Group>
        </section>
      )}
    </>
  )
}

type SearchedPictureProps = {
  readonly image: PlaygroundImage | undefined
  readonly response: PlaygroundResponse
  readonly value: ActionValues['svc.identify']
}

/** The searched picture with the best match. */
function SearchedPicture({ image, response, value }: SearchedPictureProps) {
  const { threshold, bestMatch } = value
  return (
    <Group gap="sm" wrap="nowrap">
      {image?.bitmap && (
        <span className="fg-thumb">
          <ImageCanvas bitmap={image.bitmap} sideMax={192} />
        </span>
      )}
      <Stack gap={2} miw={0}>
        <VerdictLine
          tone={bestMatch ? 'good' : 'bad'}
          text={bestMatch ? subjectNameOf(bestMatch) : 'No match'}
        />
        <Text size="xs" c="dimmed" component="div">
          Threshold {threshold.toFixed(2)}. Cost: <CallCost call={response} />
        </Text>
      </Stack>
    </Group>
  )
}

/** Returns the candidates of the first face, also those below the threshold, the best first. */
function candidatesOf({ faces, debug }: ActionValues['svc.identify']) {
  const found = [...(faces[0]?.candidates ?? []), ...(debug?.candidatesBelowThreshold ?? [])]
  const bySubject = new Map(found.map((candidate) => [candidate.subjectId, candidate]))
  const sorted = [...bySubject.values()].toSorted((a, b) => b.similarity - a.similarity)
  return sorted.slice(0, candidatesMax)
}
