import { Stack } from '@mantine/core'
import { useState } from 'react'
import type { ActionInfo, PlaygroundSettings } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'
import { WithCallData } from '../playground/call-data.tsx'
import { ImagePicker } from '../playground/images/image-picker.tsx'
import type { PlaygroundImage } from '../playground/images/playground-image.ts'
import { PaidCallButton } from '../playground/paid-call-button.tsx'
import { toCall, toRun, type PlaygroundRun } from '../playground/run.ts'
import { ProjectScope } from '../projects/project-scope.tsx'
import { PairResult } from './pair-result.tsx'

const action = 'svc.verify'
const imageCount = { min: 2, max: 2, text: '2 images, which are compared with each other' }

/** Compares two pictures: similarity, false-match rate and the decision at common thresholds. */
export function PairTesterPage() {
  return (
    <Page
      title="Pair tester"
      description="Compare two pictures with the calibration of a project. The largest face of each picture is compared."
    >
      <ProjectScope>
        {(projectId) => (
          <WithCallData>
            {({ actions, settings }) => (
              <PairTester
                key={projectId}
                projectId={projectId}
                verify={actions.find(({ name }) => name === action)}
                settings={settings}
              />
            )}
          </WithCallData>
        )}
      </ProjectScope>
    </Page>
  )
}

type Props = {
  readonly projectId: string
  readonly verify: ActionInfo | undefined
  readonly settings: PlaygroundSettings
}

function PairTester({ projectId, verify, settings }: Props) {
  const [images, setImages] = useState<readonly PlaygroundImage[]>([])
  const [run, setRun] = useState<PlaygroundRun>()
  const parts = { params: {}, images, debug: false }
  const send = useApiMutation({
    method: 'POST',
    path: '/playground',
    onSuccess: (response) => setRun(toRun(action, parts, response)),
  })
  return (
    <Stack>
      <Panel title="Pictures">
        <Stack>
          <ImagePicker
            images={images}
            imageCount={imageCount}
            limits={settings}
            onChange={setImages}
          />
          <PaidCallButton
            projectId={projectId}
            action={action}
            label="Compare"
            price={verify?.price}
            imagesChosen={images.length}
            imageCount={imageCount}
            isRunning={send.isPending}
            onRun={() => send.mutate({ body: { projectId, call: toCall(action, parts) } })}
          />
          <ErrorNotice title="Couldn't compare the pictures" error={send.error} />
        </Stack>
      </Panel>
      {run && <PairResult key={run.id} run={run} settings={settings} projectId={projectId} />}
    </Stack>
  )
}
