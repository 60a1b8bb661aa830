import { SimpleGrid, Stack } from '@mantine/core'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { ActionInfo, PlaygroundSettings } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { whenReachable } from '../api/when-reachable.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Panel } from '../layout/panel.tsx'
import { CallPanel } from './call-panel.tsx'
import { ChallengeButton } from './challenge/challenge-button.tsx'
import { formFieldsOf, usableFields } from './form/form-fields.ts'
import { ParamsForm } from './form/params-form.tsx'
import { parseParams, type FormEntries, type ParsedParams } from './form/parse-params.ts'
import { HistoryPanel } from './history/history-panel.tsx'
import { useRunHistory } from './history/run-history.tsx'
import { imageCountOf, type ImageCount } from './images/image-count.ts'
import { ImagePicker } from './images/image-picker.tsx'
import type { PlaygroundImage } from './images/playground-image.ts'
import { RequestView } from './request-view.tsx'
import { ResultPanel } from './result/result-panel.tsx'
import { toCall, toRun, type PlaygroundRun } from './run.ts'
import { runBlockers } from './run-blockers.ts'
import { useScrollOnPhones } from './use-scroll-on-phones.ts'

const DeleteSubjectDialog = lazy(async () => ({
  default: (await whenReachable(() => import('./delete-subject-dialog.tsx'))).DeleteSubjectDialog,
}))

type Props = {
  readonly action: ActionInfo
  readonly projectId: string
  readonly settings: PlaygroundSettings
  readonly entries: FormEntries
  readonly images: readonly PlaygroundImage[]
  /** The shown run. */
  readonly run: PlaygroundRun | undefined
  readonly onEntriesChange: (entries: FormEntries) => void
  readonly onImagesChange: (images: readonly PlaygroundImage[]) => void
  readonly onRunChange: (run: PlaygroundRun | undefined) => void
}

/** Runs one action: images and parameters on the left, result and request on the right. */
export function ActionRunner(props: Props) {
  const { action, projectId, settings, entries, images, run } = props
  const mayCall = useHasRole('admin')
  const history = useRunHistory()
  const allFields = useMemo(() => formFieldsOf(action.paramsSchema), [action.paramsSchema])
  const [debug, setDebug] = useState(false)
  const [validateOnly, setValidateOnly] = useState(false)
  const [isConfirming, setIsConfirming] = useState(false)
  const fields = usableFields(action.name, allFields, images.length)
  const { params, problems } = parseParams(fields, entries)
  const imageCount = imageCountOf(action, params)
  // Images are kept for the next action, which may take fewer.
  const callImages = images.slice(0, imageCount.max)
  const parts = { params, images: callImages, debug, validateOnly }
  const addRun = (added: PlaygroundRun): void => {
    props.onRunChange(added)
    history.add(added)
  }
  const send = useApiMutation({
    method: 'POST',
    path: '/playground',
    onSuccess: (response) => {
      setIsConfirming(false)
      addRun(toRun(action.name, parts, response))
    },
  })
  const runCall = (): void => send.mutate({ body: { projectId, call: toCall(action.name, parts) } })
  const imagesChosen = callImages.length
  const resultRef = useScrollOnPhones(run?.id)
  const blockers = runBlockers({ mayCall, problems, imageCount, imagesChosen })
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <CallInputs
        {...props}
        callImages={callImages}
        imageCount={imageCount}
        fields={fields}
        problems={problems}
      />
      <Stack>
        <CallPanel
          action={action.name}
          debug={debug}
          blockers={blockers}
          isRunning={send.isPending}
          validateOnly={validateOnly}
          onDebugChange={setDebug}
          onValidateOnlyChange={setValidateOnly}
          onRun={
            action.name === 'svc.deleteSubject' && !validateOnly
              ? () => setIsConfirming(true)
              : runCall
          }
        >
          {action.name === 'svc.liveness' && (
            <ChallengeButton
              projectId={projectId}
              params={params}
              debug={debug}
              disabled={!mayCall}
              onResult={addRun}
            />
          )}
        </CallPanel>
        {!isConfirming && <ErrorNotice title="Couldn't run action" error={send.error} />}
        {isConfirming && (
          <Suspense>
            <DeleteSubjectDialog
              projectId={projectId}
              subjectId={params['subjectId']}
              isPending={send.isPending}
              error={send.error}
              onConfirm={runCall}
              onClose={() => setIsConfirming(false)}
            />
          </Suspense>
        )}
        <div ref={resultRef} className="fg-result">
          {run && <ResultPanel key={run.id} run={run} settings={settings} />}
        </div>
        <HistoryPanel selectedId={run?.id} onSelect={props.onRunChange} />
        <RequestView action={action.name} params={params} debug={debug} images={callImages} />
      </Stack>
    </SimpleGrid>
  )
}

type CallInputsProps = Pick<
  Props,
  'settings' | 'entries' | 'onEntriesChange' | 'onImagesChange'
> & {
  readonly callImages: readonly PlaygroundImage[]
  readonly imageCount: ImageCount
  readonly fields: ReturnType<typeof usableFields>
  readonly problems: ParsedParams['problems']
}

/** The images and the parameters of the call. */
function CallInputs(props: CallInputsProps) {
  const { settings, entries, callImages, imageCount, fields, problems } = props
  const { onEntriesChange, onImagesChange } = props
  return (
    <Stack>
      {imageCount.max > 0 && (
        <Panel title="Images">
          <ImagePicker
            images={callImages}
            imageCount={imageCount}
            limits={settings}
            onChange={onImagesChange}
          />
        </Panel>
      )}
      <Panel title="Parameters">
        <ParamsForm
          fields={fields}
          entries={entries}
          problems={problems}
          onChange={onEntriesChange}
        />
      </Panel>
    </Stack>
  )
}
