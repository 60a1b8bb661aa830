import { Anchor, Select, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleDeletion, PlaygroundSettings, ActionInfo } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { formatQuantity } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'
import { WithCallData } from '../../playground/call-data.tsx'
import { ImagePicker } from '../../playground/images/image-picker.tsx'
import type { PlaygroundImage } from '../../playground/images/playground-image.ts'
import { PaidCallButton } from '../../playground/paid-call-button.tsx'
import type { ActionValues } from '../../playground/result/action-values.ts'
import type { ResultEnvelope } from '../../playground/result/envelope.ts'
import { FailureCard } from '../../playground/result/failure-card.tsx'
import { VerdictLine } from '../../playground/result/verdict-line.tsx'
import { toCall } from '../../playground/run.ts'

const action = 'svc.identify'
const imageCount = { min: 1, max: 1, text: 'One picture of the deleted person' }

/** Searches the gallery for the face of a deleted subject. Nothing of the deleted data is used. */
export function SearchAgain({ deletion }: { readonly deletion: ConsoleDeletion }) {
  const projects = useApiQuery('/projects')
  const ofGallery = (projects.data?.items ?? []).filter(({ name }) =>
    deletion.projects.includes(name),
  )
  const [chosenId, setChosenId] = useState<string>()
  const projectId = chosenId ?? ofGallery[0]?.projectId
  return (
    <div className="fg-no-print">
      <Panel title="Search for this face again">
        <Stack>
          <Text size="sm">
            The templates of the subject no longer exist, so choose a picture of the person. The
            search shows whether the gallery matches the face with another subject.
          </Text>
          {ofGallery.length > 1 && (
            <Select
              label="Project"
              maw={360}
              allowDeselect={false}
              data={ofGallery.map((item) => ({ value: item.projectId, label: item.name }))}
              value={projectId ?? null}
              onChange={(value) => setChosenId(value ?? undefined)}
            />
          )}
          {projectId === undefined ? (
            <Text size="sm">No project uses the gallery of this subject any more.</Text>
          ) : (
            <WithCallData>
              {({ actions, settings }) => (
                <FaceSearch
                  projectId={projectId}
                  identify={actions.find(({ name }) => name === action)}
                  settings={settings}
                />
              )}
            </WithCallData>
          )}
        </Stack>
      </Panel>
    </div>
  )
}

type Props = {
  readonly projectId: string
  readonly identify: ActionInfo | undefined
  readonly settings: PlaygroundSettings
}

function FaceSearch({ projectId, identify, settings }: Props) {
  const [images, setImages] = useState<readonly PlaygroundImage[]>([])
  const send = useApiMutation({ method: 'POST', path: '/playground' })
  const call = toCall(action, { params: {}, images, debug: false })
  return (
    <>
      <ImagePicker
        images={images}
        imageCount={imageCount}
        limits={settings}
        onChange={(chosen) => {
          setImages(chosen)
          send.reset()
        }}
      />
      <PaidCallButton
        projectId={projectId}
        action={action}
        label="Search"
        price={identify?.price}
        imagesChosen={images.length}
        imageCount={imageCount}
        isRunning={send.isPending}
        onRun={() => send.mutate({ body: { projectId, call } })}
      />
      <ErrorNotice title="Couldn't search" error={send.error} />
      <output>
        {send.data && (
          // The server validates its responses with the schemas of the actions.
          <SearchResult envelope={send.data.envelope as ResultEnvelope} projectId={projectId} />
        )}
      </output>
    </>
  )
}

type FaceSearchResultProps = { readonly envelope: ResultEnvelope; readonly projectId: string }

function SearchResult({ envelope, projectId }: FaceSearchResultProps) {
  const [item] = envelope.data?.results ?? []
  if (!envelope.ok || !item)
    return (
      <FailureCard
        title="The picture could not be searched"
        problems={envelope.errors ?? []}
        remedyOf={() => undefined}
      />
    )
  const { bestMatch, gallerySize, threshold } =
    item.value as unknown as ActionValues['svc.identify']
  return (
    <Stack gap="xs">
      <VerdictLine
        tone={bestMatch ? 'unsure' : 'good'}
        text={
          bestMatch
            ? `The face matches ${subjectNameOf(bestMatch)}, similarity ${bestMatch.similarity.toFixed(4)}`
            : 'The face matches no subject of the gallery'
        }
      />
      {bestMatch && (
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link {...props} to="/subjects" search={{ projectId, subject: bestMatch.subjectId }} />
          )}
        >
          Open the matched subject
        </Anchor>
      )}
      <Text size="sm" c="dimmed">
        Searched: {formatQuantity(gallerySize, 'subject')}, threshold {threshold.toFixed(2)}.
      </Text>
    </Stack>
  )
}
