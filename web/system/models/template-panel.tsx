import { Button, Checkbox, Progress, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ModelsOverview } from '../../api/responses.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { formatCount } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'
import { DataTable } from '../../lists/data-table.tsx'
import { CommandDialog } from './command-dialog.tsx'

type Props = { readonly overview: ModelsOverview }

/** The templates of each recognizer, how far a change of the recognizer is, and its end. */
export function TemplatePanel({ overview }: Props) {
  const { comparable, calibration, coverage, mayChange } = overview
  const [retired, setRetired] = useState<string>()
  const columns = [
    {
      name: 'Model',
      isMonospace: true,
      renderCell: ({ modelId }: (typeof comparable)[number]) => modelId,
    },
    {
      name: 'Templates',
      align: 'right' as const,
      renderCell: ({ faces }: (typeof comparable)[number]) => formatCount(faces),
    },
    {
      name: 'Use',
      renderCell: ({ modelId }: (typeof comparable)[number]) =>
        modelId === calibration.modelId ? (
          'in use'
        ) : mayChange ? (
          <Button size="compact-xs" variant="default" onClick={() => setRetired(modelId)}>
            Retire
          </Button>
        ) : (
          'former'
        ),
    },
  ]
  return (
    <Panel title="Templates by model">
      {coverage && <Coverage coverage={coverage} modelId={calibration.modelId} />}
      <DataTable
        caption="Templates by model"
        rows={comparable}
        rowKey={({ modelId }) => modelId}
        columns={columns}
        empty={
          <EmptyState title="No templates">
            Only templates of the same model can be compared.
          </EmptyState>
        }
      />
      {retired !== undefined && (
        <RetireDialog modelId={retired} onClose={() => setRetired(undefined)} />
      )}
    </Panel>
  )
}

type CoverageProps = {
  readonly coverage: NonNullable<ModelsOverview['coverage']>
  readonly modelId: string
}

/** Nothing is shown while every face has a template of the recognizer in use. */
function Coverage({ coverage, modelId }: CoverageProps) {
  const { comparableFaces, remakeableFaces, waitingFaces } = coverage
  const total = comparableFaces + remakeableFaces + waitingFaces
  if (total === comparableFaces) return null
  return (
    <>
      <Text size="sm" component="output" display="block">
        {formatCount(comparableFaces)} of {formatCount(total)} faces of all accounts have a template
        of {modelId}. {formatCount(remakeableFaces)} will be created from stored crops,{' '}
        {formatCount(waitingFaces)} need an enrollment or a verification.
      </Text>
      <Progress
        my="sm"
        value={(100 * comparableFaces) / total}
        aria-label="Faces with a template of the recognizer in use"
      />
    </>
  )
}

type RetireProps = { readonly modelId: string; readonly onClose: () => void }

function RetireDialog({ modelId, onClose }: RetireProps) {
  const [confirm, setConfirm] = useState('')
  const [deletesFaces, setDeletesFaces] = useState(false)
  const options = { confirm: modelId, 'delete-faces': deletesFaces }
  return (
    <CommandDialog
      title={`Retire ${modelId}`}
      submitLabel="Delete the templates"
      isDangerous
      isReady={confirm === modelId}
      command={{ command: 'retire', target: modelId, options }}
      mayChange
      onClose={onClose}
    >
      <Text size="sm">
        Deletes the templates of this model, of all accounts, permanently. It is refused if a
        subject has no template of the model in use. After the next restart the model is no longer
        loaded.
      </Text>
      <Checkbox
        label="Also delete faces that have no other template"
        checked={deletesFaces}
        onChange={(event) => setDeletesFaces(event.currentTarget.checked)}
      />
      <TextInput
        label={`Type ${modelId} to confirm`}
        value={confirm}
        autoComplete="off"
        onChange={(event) => setConfirm(event.currentTarget.value)}
      />
    </CommandDialog>
  )
}
