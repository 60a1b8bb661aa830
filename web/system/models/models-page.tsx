import { Alert, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleCalibrationPoint, ModelsOverview } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { FalseMatchRateChart } from '../../charts/lazy-charts.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { StatusTag } from '../../components/status-tag.tsx'
import { DataTable, type Column } from '../../lists/data-table.tsx'
import { formatBytes, formatCount } from '../../format/numbers.ts'
import { Page } from '../../layout/page.tsx'
import { Panel } from '../../layout/panel.tsx'
import { GalleryCalibrations } from '../gallery-calibrations.tsx'
import { CommandPanel } from './command-panel.tsx'
import { InstallDialog } from './install-dialog.tsx'
import { Licences } from './licences.tsx'
import { ModelActions } from './model-actions.tsx'
import { ModelDrawer } from './model-drawer.tsx'
import { modelTasks, stateOf, type ModelRow } from './model-rows.ts'
import { TemplatePanel } from './template-panel.tsx'
import './models.css'

type ModelCalibration = NonNullable<ModelsOverview['calibration']>

/** A template is created from a crop in the background. */
const coveragePollMs = 10_000

/** The networks by task with their cards, their changes, and the false-match rate by threshold. */
export function ModelsPage() {
  const query = useApiQuery('/models', {
    pollMs: (data) => (data?.coverage?.remakeableFaces ?? 0) > 0 && coveragePollMs,
  })
  return (
    <Page
      title="Models"
      description="Networks by task, with figures and licences, and the calibration of the recognizer."
      actions={
        <LinkButton to="/pair-tester" size="sm" variant="default">
          Compare two pictures
        </LinkButton>
      }
    >
      <QueryContent query={query}>
        {(overview) => <ModelsContent overview={overview} />}
      </QueryContent>
    </Page>
  )
}

const route = getRouteApi('/models')

function ModelsContent({ overview }: { readonly overview: ModelsOverview }) {
  const { models, calibration, galleryCalibrations, mayChange } = overview
  const { model: opened, install } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (search: { model?: string | undefined; install?: string | undefined }): void =>
    void navigate({ search: (old) => ({ ...old, ...search }) })
  const openedModel = models.find(({ model }) => model === opened)
  return (
    <>
      {models.some(({ use, nextUse }) => use !== nextUse) && <RestartNotice />}
      {mayChange && <CommandPanel />}
      <Panel
        title="Networks"
        actions={
          mayChange && (
            <ModelActions models={models} onInstall={(pack) => change({ install: pack })} />
          )
        }
      >
        {modelTasks.map(({ role, title }) => (
          <div key={role} className="fg-networks">
            <h3 className="fg-caption fg-task">{title}</h3>
            <DataTable
              caption={title}
              rows={models.filter(({ roles }) => roles.includes(role))}
              rowKey={({ model }) => model}
              columns={columns}
              openLabel={({ model }) => `Open ${model}`}
              onOpen={({ model }) => change({ model })}
              empty={null}
            />
          </div>
        ))}
      </Panel>
      <TemplatePanel overview={overview} />
      <Panel title="False-match rate by threshold">
        <CalibrationSection calibration={calibration} />
      </Panel>
      <Panel title="Calibration of galleries">
        <GalleryCalibrations calibrations={galleryCalibrations} />
      </Panel>
      <Panel title="Licences">
        <Licences models={models.filter(({ state }) => state !== 'available')} />
      </Panel>
      {openedModel && (
        <ModelDrawer
          model={openedModel}
          models={models}
          mayChange={mayChange}
          onInstall={(pack) => change({ model: undefined, install: pack })}
          onClose={() => change({ model: undefined })}
        />
      )}
      {install !== undefined && (
        <InstallDialog
          key={install}
          pack={install}
          models={models}
          mayChange={mayChange}
          onClose={() => change({ install: undefined })}
        />
      )}
    </>
  )
}

function RestartNotice() {
  return (
    <Alert variant="default" title="Restart the service to use the selected networks">
      <Text size="sm">
        For example <code>systemctl restart facegate</code> or{' '}
        <code>docker compose restart facegate</code>. With several servers, run the command of the
        change on each of them, unless they share the folder of the models, and restart them one
        after the other.
      </Text>
    </Alert>
  )
}

const columns: readonly Column<ModelRow>[] = [
  { name: 'Network', isMonospace: true, renderCell: ({ model }) => model },
  {
    name: 'State',
    renderCell: (model) => {
      const { tone, text } = stateOf(model)
      return <StatusTag tone={tone}>{text}</StatusTag>
    },
  },
  { name: 'Commercial use', renderCell: ({ commercialUse }) => commercialUse },
  {
    name: 'Size',
    align: 'right',
    renderCell: ({ bytes }) => (bytes === null ? 'unknown' : formatBytes(bytes)),
  },
]

function CalibrationSection({ calibration }: { readonly calibration: ModelCalibration }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {calibration.modelId}, measured on {calibration.set}, {calibration.measuredOn}. The
        false-match rate is the share of comparisons of two different people that reach the
        threshold.
        {calibration.populations === undefined &&
          ' The table holds only for pictures like those of its set. Before access control, calibrate each gallery.'}
      </Text>
      <FalseMatchRateChart points={calibration.points} />
      <DataTable
        caption="False-match rate by threshold"
        rows={calibration.points}
        rowKey={({ fmr, score }) => `${fmr} ${score}`}
        columns={pointColumns}
        empty={null}
      />
    </>
  )
}

const pointColumns: readonly Column<ConsoleCalibrationPoint>[] = [
  { name: 'False-match rate', align: 'right', renderCell: ({ fmr }) => fmr.toExponential(0) },
  { name: 'One in', align: 'right', renderCell: ({ fmr }) => formatCount(Math.round(1 / fmr)) },
  { name: 'Similarity', align: 'right', renderCell: ({ similarity }) => similarity.toFixed(3) },
  { name: 'Raw score', align: 'right', renderCell: ({ score }) => score.toFixed(4) },
  { name: 'Method', renderCell: ({ source }) => source },
]
