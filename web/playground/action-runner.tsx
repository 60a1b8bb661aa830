import { Button, Group, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { ActionInfo, PlaygroundResponse } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Panel } from '../layout/panel.tsx'
import { formFieldsOf, usableFields } from './form/form-fields.ts'
import { ParamsForm } from './form/params-form.tsx'
import { parseParams, type FormEntries } from './form/parse-params.ts'
import type { PlaygroundImage } from './images/playground-image.ts'
import { toCall, type RunResult } from './playground-call.ts'
import { ImagePicker } from './images/image-picker.tsx'
import { ChallengeButton } from './challenge/challenge-button.tsx'
import { RequestView } from './request-view.tsx'
import { ResultPanel } from './result-panel.tsx'

type Props = {
  readonly action: ActionInfo
  readonly projectId: string
  readonly entries: FormEntries
  readonly images: readonly PlaygroundImage[]
  readonly onEntriesChange: (entries: FormEntries) => void
  readonly onImagesChange: (images: readonly PlaygroundImage[]) => void
}

/** Runs one action: images and parameters on the left, request and response on the right. */
export function ActionRunner({
  action,
  projectId,
  entries,
  images,
  onEntriesChange,
  onImagesChange,
}: Props) {
  const mayCall = useHasRole('admin')
  const allFields = useMemo(() => formFieldsOf(action.paramsSchema), [action.paramsSchema])
  const [debug, setDebug] = useState(false)
  const [result, setResult] = useState<RunResult>()
  const run = useApiMutation<PlaygroundResponse>({
    method: 'POST',
    path: '/playground',
    onSuccess: (response) => setResult({ response, images: callImages }),
  })
  const callImages = images.slice(0, action.imagesMax)
  const fields = usableFields(action.name, allFields, callImages.length)
  const { params, problems } = parseParams(fields, entries)
  const isReady = Object.keys(problems).length === 0 && callImages.length >= action.imagesMin
  const call = toCall(action.name, { params, images: callImages, debug })
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Stack>
        {action.imagesMax > 0 && (
          <Panel title="Images">
            <ImagePicker
              images={callImages}
              imagesMax={action.imagesMax}
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
      <Stack>
        <Panel title="Call">
          <Group justify="space-between">
            <Switch
              label="Debug"
              description="Adds models, raw scores and timings to the response."
              size="xs"
              checked={debug}
              onChange={(event) => setDebug(event.currentTarget.checked)}
            />
            {action.name === 'svc.liveness' && (
              <ChallengeButton
                projectId={projectId}
                params={params}
                debug={debug}
                disabled={!mayCall}
                onResult={setResult}
              />
            )}
            <Button
              disabled={!mayCall || !isReady}
              loading={run.isPending}
              onClick={() => run.mutate({ body: { projectId, call } })}
            >
              Run {action.name}
            </Button>
          </Group>
          <Text size="xs" c="dimmed" mt="xs">
            {mayCall
              ? 'Billed and logged like any other call of the project.'
              : 'Calls are billed. The role admin is required.'}
          </Text>
        </Panel>
        <ErrorNotice title="Couldn't run action" error={run.error} />
        {result && <ResultPanel response={result.response} images={result.images} />}
        <RequestView action={action.name} params={params} debug={debug} images={callImages} />
      </Stack>
    </SimpleGrid>
  )
}
