// Made from the contract by `npm run generate`.
import type { EventOptions } from '../event-stream.ts';
import type { Answer, Body, Events, HeaderOptions, Listing, NamedFile, NotBoth, Query } from '../method-types.ts';
import type { RequestOptions } from '../request-options.ts';

export interface DoNotCallMethods {
  /** List do-not-call numbers. `GET /v1/calls/do-not-call` */
  list(query?: Query<'listDoNotCall'>, options?: RequestOptions): Listing<'listDoNotCall'>;
  /** Add do-not-call numbers. `POST /v1/calls/do-not-call` */
  add(body: Body<'addDoNotCall'>, options?: RequestOptions): Answer<'addDoNotCall'>;
  /** Remove a do-not-call number. `DELETE /v1/calls/do-not-call/{phoneNumber}` */
  remove(phoneNumber: string, query?: Query<'removeDoNotCall'>, options?: RequestOptions): Answer<'removeDoNotCall'>;
}

export interface SearchMethods {
  /** Search by name, number or ID. `GET /v1/search` */
  search(query: Query<'search'>, options?: RequestOptions): Answer<'search'>;
}

export interface PeopleMethods {
  /** Read a person. `GET /v1/people/{phoneNumber}` */
  get(phoneNumber: string, query?: Query<'getPerson'>, options?: RequestOptions): Answer<'getPerson'>;
}

export interface ContactListsMethods {
  /** List contact lists. `GET /v1/calls/contact-lists` */
  list(query?: Query<'listContactLists'>, options?: RequestOptions): Listing<'listContactLists'>;
  /** Create a contact list. `POST /v1/calls/contact-lists` */
  create(body: Body<'createContactList'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createContactList'>;
  /** Read a contact list. `GET /v1/calls/contact-lists/{id}` */
  get(id: string, options?: RequestOptions): Answer<'getContactList'>;
  /** Change a contact list. `PATCH /v1/calls/contact-lists/{id}` */
  update(id: string, body: Body<'updateContactList'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateContactList'>;
  /** Delete a contact list. `DELETE /v1/calls/contact-lists/{id}` */
  delete(id: string, options?: RequestOptions): Answer<'deleteContactList'>;
  /** List the entries of a contact list. `GET /v1/calls/contact-lists/{id}/entries` */
  listEntries(id: string, query?: Query<'listContactListEntries'>, options?: RequestOptions): Listing<'listContactListEntries'>;
  /** Add entries to a contact list. `POST /v1/calls/contact-lists/{id}/entries` */
  addEntries(id: string, body: Body<'addContactListEntries'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'addContactListEntries'>;
  /** Read an entry of a contact list. `GET /v1/calls/contact-lists/{id}/entries/{phoneNumber}` */
  getEntry(id: string, phoneNumber: string, options?: RequestOptions): Answer<'getContactListEntry'>;
  /** Change an entry of a contact list. `PATCH /v1/calls/contact-lists/{id}/entries/{phoneNumber}` */
  updateEntry(id: string, phoneNumber: string, body: Body<'updateContactListEntry'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateContactListEntry'>;
  /** Remove an entry of a contact list. `DELETE /v1/calls/contact-lists/{id}/entries/{phoneNumber}` */
  removeEntry(id: string, phoneNumber: string, options?: RequestOptions): Answer<'removeContactListEntry'>;
  /** List the uploads of a contact list. `GET /v1/calls/contact-lists/{id}/uploads` */
  listUploads(id: string, query?: Query<'listContactListUploads'>, options?: RequestOptions): Listing<'listContactListUploads'>;
  /** Upload another file into a contact list. `POST /v1/calls/contact-lists/{id}/uploads` */
  createUpload(id: string, body: Body<'createContactListUpload'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createContactListUpload'>;
  /** Read an upload. `GET /v1/calls/contact-lists/{id}/uploads/{uploadID}` */
  getUpload(id: string, uploadID: string, options?: RequestOptions): Answer<'getContactListUpload'>;
  /** Have an upload read otherwise. `PATCH /v1/calls/contact-lists/{id}/uploads/{uploadID}` */
  updateUpload(id: string, uploadID: string, body: Body<'updateContactListUpload'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateContactListUpload'>;
  /** Preview an upload. `GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/preview` */
  previewUpload(id: string, uploadID: string, options?: RequestOptions): Answer<'previewContactListUpload'>;
  /** List the rows that an upload rejects. `GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/rejected-rows` */
  listRejectedRows(id: string, uploadID: string, query?: Query<'listRejectedContactListRows'>, options?: RequestOptions): Listing<'listRejectedContactListRows'>;
  /** Mend a rejected row. `PATCH /v1/calls/contact-lists/{id}/uploads/{uploadID}/rejected-rows/{row}` */
  mendRejectedRow(id: string, uploadID: string, row: string, body: Body<'mendRejectedContactListRow'>, options?: RequestOptions & { ifMatch?: string }): Answer<'mendRejectedContactListRow'>;
  /** Follow an upload. `GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/events` */
  streamUploadEvents(id: string, uploadID: string, options?: EventOptions): Events<'streamContactListUploadEvents'>;
  /** Import a validated upload. `POST /v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm` */
  confirmUpload(id: string, uploadID: string, options?: RequestOptions): Answer<'confirmContactListUpload'>;
}

export interface PhoneNumbersMethods {
  /** List phone numbers. `GET /v1/telephony/phone-numbers` */
  list(query?: Query<'listPhoneNumbers'>, options?: RequestOptions): Listing<'listPhoneNumbers'>;
  /** Search numbers to buy. `GET /v1/telephony/available-phone-numbers` */
  searchAvailable(query: Query<'searchAvailablePhoneNumbers'>, options?: RequestOptions): Answer<'searchAvailablePhoneNumbers'>;
  /** Buy a phone number. `POST /v1/telephony/phone-numbers/buy` */
  buy(body: Body<'buyPhoneNumber'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'buyPhoneNumber'>;
  /** Import owned numbers. `POST /v1/telephony/phone-numbers/import/manual` */
  import(body: Body<'importPhoneNumbers'> & NotBoth<'trunkId', 'sipConfig'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'importPhoneNumbers'>;
  /** Read a phone number. `GET /v1/telephony/phone-numbers/{id}` */
  get(id: string, options?: RequestOptions): Answer<'getPhoneNumber'>;
  /** Update a phone number. `PATCH /v1/telephony/phone-numbers/{id}` */
  update(id: string, body: Body<'updatePhoneNumber'> & NotBoth<'trunkId', 'outboundTermination' | 'sipConfig'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updatePhoneNumber'>;
  /** Release a phone number. `DELETE /v1/telephony/phone-numbers/{id}` */
  release(id: string, options?: RequestOptions): Answer<'releasePhoneNumber'>;
  /** Ring your own phone. `POST /v1/telephony/phone-numbers/{id}/test-call` */
  startTestCall(id: string, body: Body<'startTestCall'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'startTestCall'>;
  /** Read a test call's report. `GET /v1/telephony/test-calls/{roomId}` */
  getTestCall(roomId: string, options?: RequestOptions): Answer<'getTestCall'>;
}

export interface ProvidersMethods {
  /** List providers. `GET /v1/telephony/providers` */
  list(options?: RequestOptions): Answer<'listProviders'>;
  /** Read a provider. `GET /v1/telephony/providers/{provider}` */
  get(provider: string, options?: RequestOptions): Answer<'getProvider'>;
  /** Save the account with a provider. `PUT /v1/telephony/providers/{provider}` */
  saveAccount(provider: string, body: Body<'saveProviderAccount'>, options?: RequestOptions & { ifMatch?: string }): Answer<'saveProviderAccount'>;
  /** Delete the account with a provider. `DELETE /v1/telephony/providers/{provider}` */
  deleteAccount(provider: string, options?: RequestOptions): Answer<'deleteProviderAccount'>;
}

export interface TrunksMethods {
  /** List trunks. `GET /v1/telephony/trunks` */
  list(query?: Query<'listTrunks'>, options?: RequestOptions): Listing<'listTrunks'>;
  /** Create a trunk. `POST /v1/telephony/trunks` */
  create(body: Body<'createTrunk'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createTrunk'>;
  /** Read a trunk. `GET /v1/telephony/trunks/{trunkId}` */
  get(trunkId: string, options?: RequestOptions): Answer<'getTrunk'>;
  /** Update a trunk. `PATCH /v1/telephony/trunks/{trunkId}` */
  update(trunkId: string, body: Body<'updateTrunk'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateTrunk'>;
  /** Delete a trunk. `DELETE /v1/telephony/trunks/{trunkId}` */
  delete(trunkId: string, options?: RequestOptions): Answer<'deleteTrunk'>;
  /** Check a trunk. `GET /v1/telephony/trunks/{trunkId}/validate` */
  validate(trunkId: string, options?: RequestOptions): Answer<'validateTrunk'>;
  /** Pause a trunk. `POST /v1/telephony/trunks/{trunkId}/pause` */
  pause(trunkId: string, options?: RequestOptions): Answer<'pauseTrunk'>;
  /** Resume a trunk. `POST /v1/telephony/trunks/{trunkId}/resume` */
  resume(trunkId: string, options?: RequestOptions): Answer<'resumeTrunk'>;
}

export interface OperatorMethods {
  /** Read how the servers are. `GET /v1/operator/status` */
  getStatus(options?: RequestOptions): Answer<'getOperatorStatus'>;
}

export interface WorkspaceMethods {
  /** Read the workspace. `GET /v1/workspace` */
  get(options?: RequestOptions): Answer<'getWorkspace'>;
  /** Update the workspace. `PATCH /v1/workspace` */
  update(body: Body<'updateWorkspace'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateWorkspace'>;
  /** Pause all dialing. `POST /v1/workspace/pause-dialing` */
  pauseDialing(options?: RequestOptions): Answer<'pauseDialing'>;
  /** Resume all dialing. `POST /v1/workspace/resume-dialing` */
  resumeDialing(options?: RequestOptions): Answer<'resumeDialing'>;
  /** Rotate the inbound secret. `POST /v1/workspace/rotate-inbound-secret` */
  rotateInboundSecret(options?: RequestOptions & { idempotencyKey?: string }): Answer<'rotateInboundSecret'>;
}

export interface KnowledgeBasesMethods {
  /** List knowledge bases. `GET /v1/knowledge-bases` */
  list(query?: Query<'listKnowledgeBases'>, options?: RequestOptions): Listing<'listKnowledgeBases'>;
  /** Create a knowledge base. `POST /v1/knowledge-bases` */
  create(body: Body<'createKnowledgeBase'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createKnowledgeBase'>;
  /** Read a knowledge base. `GET /v1/knowledge-bases/{kbId}` */
  get(kbId: string, options?: RequestOptions): Answer<'getKnowledgeBase'>;
  /** Change a knowledge base. `PATCH /v1/knowledge-bases/{kbId}` */
  update(kbId: string, body: Body<'updateKnowledgeBase'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateKnowledgeBase'>;
  /** Delete a knowledge base. `DELETE /v1/knowledge-bases/{kbId}` */
  delete(kbId: string, options?: RequestOptions): Answer<'deleteKnowledgeBase'>;
  /** Add documents to a knowledge base. `POST /v1/knowledge-bases/{kbId}/documents` */
  addDocuments(kbId: string, files: readonly (File | NamedFile)[], options?: RequestOptions & { idempotencyKey?: string }): Answer<'addKnowledgeBaseDocuments'>;
  /** Read a document. `GET /v1/knowledge-bases/{kbId}/documents/{docId}` */
  getDocument(kbId: string, docId: string, options?: RequestOptions): Answer<'getKnowledgeBaseDocument'>;
  /** Delete a document. `DELETE /v1/knowledge-bases/{kbId}/documents/{docId}` */
  deleteDocument(kbId: string, docId: string, options?: RequestOptions): Answer<'deleteKnowledgeBaseDocument'>;
  /** Search a knowledge base. `POST /v1/knowledge-bases/{kbId}/search` */
  search(kbId: string, body: Body<'searchKnowledgeBase'>, options?: RequestOptions): Answer<'searchKnowledgeBase'>;
}

export interface CampaignsMethods {
  /** List campaigns. `GET /v1/calls/campaigns` */
  list(query?: Query<'listCampaigns'>, options?: RequestOptions): Listing<'listCampaigns'>;
  /** Create a campaign. `POST /v1/calls/campaigns` */
  create(body: Body<'createCampaign'> & NotBoth<'callingWindows', 'scheduleStart' | 'scheduleEnd' | 'scheduleDays'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createCampaign'>;
  /** Read a campaign. `GET /v1/calls/campaigns/{id}` */
  get(id: string, options?: RequestOptions): Answer<'getCampaign'>;
  /** Change a campaign. `PATCH /v1/calls/campaigns/{id}` */
  update(id: string, body: Body<'updateCampaign'> & NotBoth<'fromNumber', 'numberPoolId'> & NotBoth<'callingWindows', 'scheduleStart' | 'scheduleEnd' | 'scheduleDays'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateCampaign'>;
  /** Delete a campaign. `DELETE /v1/calls/campaigns/{id}` */
  delete(id: string, options?: RequestOptions): Answer<'deleteCampaign'>;
  /** Start a campaign. `POST /v1/calls/campaigns/{id}/start` */
  start(id: string, query?: Query<'startCampaign'>, options?: RequestOptions): Answer<'startCampaign'>;
  /** Pause a campaign. `POST /v1/calls/campaigns/{id}/pause` */
  pause(id: string, options?: RequestOptions): Answer<'pauseCampaign'>;
  /** Resume a campaign. `POST /v1/calls/campaigns/{id}/resume` */
  resume(id: string, options?: RequestOptions): Answer<'resumeCampaign'>;
  /** Stop a campaign. `POST /v1/calls/campaigns/{id}/stop` */
  stop(id: string, options?: RequestOptions): Answer<'stopCampaign'>;
  /** Unschedule a campaign. `POST /v1/calls/campaigns/{id}/unschedule` */
  unschedule(id: string, options?: RequestOptions): Answer<'unscheduleCampaign'>;
  /** Cancel a campaign. `POST /v1/calls/campaigns/{id}/cancel` */
  cancel(id: string, options?: RequestOptions): Answer<'cancelCampaign'>;
  /** Preview a campaign. `POST /v1/calls/campaigns/{id}/preview` */
  preview(id: string, body?: Body<'previewCampaign'>, options?: RequestOptions): Answer<'previewCampaign'>;
  /** List a campaign's contacts. `GET /v1/calls/campaigns/{id}/contacts` */
  listContacts(id: string, query?: Query<'listCampaignContacts'>, options?: RequestOptions): Listing<'listCampaignContacts'>;
  /** Call those again who were not reached. `POST /v1/calls/campaigns/{id}/contacts/redial` */
  redialContacts(id: string, body?: Body<'redialCampaignContacts'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'redialCampaignContacts'>;
  /** Skip a contact. `POST /v1/calls/campaigns/{id}/contacts/{contactId}/skip` */
  skipContact(id: string, contactId: string, options?: RequestOptions): Answer<'skipCampaignContact'>;
  /** Read a campaign's figures. `GET /v1/calls/campaigns/{id}/stats` */
  getStats(id: string, options?: RequestOptions): Answer<'getCampaignStats'>;
  /** Follow a campaign. `GET /v1/calls/campaigns/{id}/events` */
  streamEvents(id: string, options?: EventOptions): Events<'streamCampaignEvents'>;
}

export interface CallsMethods {
  /** Read figures of calls over time. `GET /v1/calls/stats` */
  getStats(query?: Query<'getCallStats'>, options?: RequestOptions): Answer<'getCallStats'>;
  /** Read a call. `GET /v1/calls/{roomId}` */
  get(roomId: string, options?: RequestOptions): Answer<'getCall'>;
  /** End a call. `POST /v1/calls/{roomId}/end` */
  end(roomId: string, options?: RequestOptions): Answer<'endCall'>;
  /** Press keys in a call. `POST /v1/calls/{roomId}/dtmf` */
  sendDtmf(roomId: string, body: Body<'sendCallDtmf'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'sendCallDtmf'>;
  /** Read what came of digits. `GET /v1/calls/{roomId}/dtmf/{dtmfId}` */
  getDtmf(roomId: string, dtmfId: string, options?: RequestOptions): Answer<'getCallDtmf'>;
  /** Hand a call on. `POST /v1/calls/{roomId}/transfer` */
  transfer(roomId: string, body: Body<'transferCall'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'transferCall'>;
  /** Read a transfer. `GET /v1/calls/{roomId}/transfer/{transferId}` */
  getTransfer(roomId: string, transferId: string, options?: RequestOptions): Answer<'getCallTransfer'>;
  /** Read a call's SIP messages. `GET /v1/calls/{roomId}/sip` */
  getSip(roomId: string, options?: RequestOptions): Answer<'getCallSip'>;
  /** Listen to a call. `POST /v1/calls/{roomId}/listen` */
  listenTo(roomId: string, options?: RequestOptions): Answer<'listenToCall'>;
  /** Delete a call's recording. `DELETE /v1/calls/{roomId}/recording` */
  deleteRecording(roomId: string, options?: RequestOptions): Answer<'deleteCallRecording'>;
  /** Read how loud a call's recording is. `GET /v1/calls/{roomId}/recording/peaks` */
  getRecordingPeaks(roomId: string, query?: Query<'getCallRecordingPeaks'>, options?: RequestOptions): Answer<'getCallRecordingPeaks'>;
  /** Record a call's result. `POST /v1/calls/{roomId}/result` */
  recordResult(roomId: string, body: Body<'recordCallResult'>, options?: RequestOptions): Answer<'recordCallResult'>;
  /** List calls. `GET /v1/calls` */
  list(query?: Query<'listCalls'>, options?: RequestOptions): Listing<'listCalls'>;
  /** Place a call. `POST /v1/calls` */
  create(body: Body<'createCall'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createCall'>;
}

export interface ExportsMethods {
  /** List exports. `GET /v1/exports` */
  list(query?: Query<'listExports'>, options?: RequestOptions): Listing<'listExports'>;
  /** Export contacts or calls. `POST /v1/exports` */
  create(body: Body<'createExport'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createExport'>;
  /** Read an export. `GET /v1/exports/{exportId}` */
  get(exportId: string, options?: RequestOptions): Answer<'getExport'>;
  /** Delete an export. `DELETE /v1/exports/{exportId}` */
  delete(exportId: string, options?: RequestOptions): Answer<'deleteExport'>;
}

export interface ErasuresMethods {
  /** List erasures. `GET /v1/erasures` */
  list(query?: Query<'listErasures'>, options?: RequestOptions): Listing<'listErasures'>;
  /** Erase a phone number. `POST /v1/erasures` */
  create(body: Body<'createErasure'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createErasure'>;
  /** Read an erasure. `GET /v1/erasures/{erasureId}` */
  get(erasureId: string, options?: RequestOptions): Answer<'getErasure'>;
}

export interface NumberPoolsMethods {
  /** List number pools. `GET /v1/number-pools` */
  list(query?: Query<'listNumberPools'>, options?: RequestOptions): Listing<'listNumberPools'>;
  /** Create a number pool. `POST /v1/number-pools` */
  create(body: Body<'createNumberPool'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createNumberPool'>;
  /** Read a number pool. `GET /v1/number-pools/{id}` */
  get(id: string, options?: RequestOptions): Answer<'getNumberPool'>;
  /** Update a number pool. `PATCH /v1/number-pools/{id}` */
  update(id: string, body: Body<'updateNumberPool'> & NotBoth<'phoneNumberIds', 'addPhoneNumberIds' | 'removePhoneNumberIds'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateNumberPool'>;
  /** Delete a number pool. `DELETE /v1/number-pools/{id}` */
  delete(id: string, options?: RequestOptions): Answer<'deleteNumberPool'>;
  /** List the members of a number pool. `GET /v1/number-pools/{id}/members` */
  listMembers(id: string, query?: Query<'listNumberPoolMembers'>, options?: RequestOptions): Listing<'listNumberPoolMembers'>;
  /** Move a member to another pool. `POST /v1/number-pools/{id}/members/move` */
  moveMember(id: string, body: Body<'moveNumberPoolMember'>, options?: RequestOptions): Answer<'moveNumberPoolMember'>;
  /** Check the trunks of a number pool. `GET /v1/number-pools/{id}/validate-trunks` */
  validateTrunks(id: string, options?: RequestOptions): Answer<'validateNumberPoolTrunks'>;
}

export interface ApiKeysMethods {
  /** List API keys. `GET /v1/api-keys` */
  list(query?: Query<'listApiKeys'>, options?: RequestOptions): Listing<'listApiKeys'>;
  /** Create an API key. `POST /v1/api-keys` */
  create(body: Body<'createApiKey'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createApiKey'>;
  /** Revoke an API key. `DELETE /v1/api-keys/{keyId}` */
  revoke(keyId: string, options?: RequestOptions): Answer<'revokeApiKey'>;
  /** Get a token for an event stream. `POST /v1/stream-tokens` */
  createStreamToken(body: Body<'createStreamToken'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createStreamToken'>;
}

export interface MembersMethods {
  /** List members. `GET /v1/members` */
  list(query?: Query<'listMembers'>, options?: RequestOptions): Listing<'listMembers'>;
  /** Invite a member. `POST /v1/members` */
  create(body: Body<'createMember'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createMember'>;
  /** Read a member. `GET /v1/members/{memberId}` */
  get(memberId: string, options?: RequestOptions): Answer<'getMember'>;
  /** Give a member another role. `PATCH /v1/members/{memberId}` */
  update(memberId: string, body: Body<'updateMember'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateMember'>;
  /** Remove a member. `DELETE /v1/members/{memberId}` */
  delete(memberId: string, options?: RequestOptions): Answer<'deleteMember'>;
}

export interface SessionsMethods {
  /** Begin to sign in as a member. `POST /v1/sign-ins` */
  startSignIn(options?: RequestOptions): Answer<'startSignIn'>;
  /** List sessions. `GET /v1/sessions` */
  list(query?: Query<'listSessions'>, options?: RequestOptions): Listing<'listSessions'>;
  /** Sign in. `POST /v1/sessions` */
  create(body: Body<'createSession'>, options?: RequestOptions): Answer<'createSession'>;
  /** End a session. `DELETE /v1/sessions/{sessionId}` */
  revoke(sessionId: string, options?: RequestOptions): Answer<'revokeSession'>;
  /** Who asks. `GET /v1/session` */
  getCurrent(options?: RequestOptions): Answer<'getCurrentSession'>;
  /** Sign out. `DELETE /v1/session` */
  endCurrent(options?: RequestOptions): Answer<'endCurrentSession'>;
}

export interface EventsMethods {
  /** Read the events of the workspace. `GET /v1/events` */
  list(query?: Query<'listEvents'>, options?: RequestOptions): Answer<'listEvents'>;
  /** Follow the events of the workspace. `GET /v1/events/stream` */
  stream(options?: EventOptions & { query?: Query<'streamEvents'> }): Events<'streamEvents'>;
}

export interface AuditLogMethods {
  /** List the audit log. `GET /v1/audit-log` */
  list(query?: Query<'listAuditLog'>, options?: RequestOptions): Listing<'listAuditLog'>;
}

export interface WorkflowsMethods {
  /** List workflows. `GET /v1/workflows` */
  list(query?: Query<'listWorkflows'>, options?: RequestOptions): Listing<'listWorkflows'>;
  /** Create a workflow. `POST /v1/workflows` */
  create(body: Body<'createWorkflow'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createWorkflow'>;
  /** Read a workflow. `GET /v1/workflows/{workflowId}` */
  get(workflowId: string, options?: RequestOptions): Answer<'getWorkflow'>;
  /** Replace the draft of a workflow. `PUT /v1/workflows/{workflowId}` */
  replaceDraft(workflowId: string, body: Body<'replaceWorkflowDraft'>, options?: RequestOptions & { ifMatch?: string }): Answer<'replaceWorkflowDraft'>;
  /** Delete a workflow. `DELETE /v1/workflows/{workflowId}` */
  delete(workflowId: string, options?: RequestOptions): Answer<'deleteWorkflow'>;
  /** Publish the draft of a workflow. `POST /v1/workflows/{workflowId}/publish` */
  publish(workflowId: string, options?: RequestOptions): Answer<'publishWorkflow'>;
  /** List the published versions of a workflow. `GET /v1/workflows/{workflowId}/versions` */
  listVersions(workflowId: string, query?: Query<'listWorkflowVersions'>, options?: RequestOptions): Listing<'listWorkflowVersions'>;
  /** Start a run of a workflow. `POST /v1/workflows/{workflowId}/run` */
  startRun(workflowId: string, body: Body<'startWorkflowRun'>, options: RequestOptions & HeaderOptions<'startWorkflowRun'>): Answer<'startWorkflowRun'>;
  /** List the runs of a workflow. `GET /v1/workflows/{workflowId}/runs` */
  listRuns(workflowId: string, query?: Query<'listWorkflowRuns'>, options?: RequestOptions): Listing<'listWorkflowRuns'>;
  /** Wake sleeping runs. `POST /v1/workflows/{workflowId}/runs/wake` */
  wakeRuns(workflowId: string, body: Body<'wakeWorkflowRuns'>, options?: RequestOptions): Answer<'wakeWorkflowRuns'>;
  /** Read a run. `GET /v1/workflows/{workflowId}/runs/{runId}` */
  getRun(workflowId: string, runId: string, options?: RequestOptions): Answer<'getWorkflowRun'>;
  /** Follow a run. `GET /v1/workflows/{workflowId}/runs/{runId}/events` */
  streamRunEvents(workflowId: string, runId: string, options?: EventOptions): Events<'streamWorkflowRunEvents'>;
  /** Cancel a run. `POST /v1/workflows/{workflowId}/runs/{runId}/cancel` */
  cancelRun(workflowId: string, runId: string, options?: RequestOptions): Answer<'cancelWorkflowRun'>;
}

export interface WorkflowRunsMethods {
  /** List the runs of all workflows. `GET /v1/workflow-runs` */
  listRuns(query?: Query<'listRuns'>, options?: RequestOptions): Listing<'listRuns'>;
  /** Read a run by its ID alone. `GET /v1/workflow-runs/{runId}` */
  getRun(runId: string, options?: RequestOptions): Answer<'getRun'>;
  /** Follow a run by its ID alone. `GET /v1/workflow-runs/{runId}/events` */
  streamRunEvents(runId: string, options?: EventOptions): Events<'streamRunEvents'>;
  /** Cancel a run by its ID alone. `POST /v1/workflow-runs/{runId}/cancel` */
  cancelRun(runId: string, options?: RequestOptions): Answer<'cancelRun'>;
}

export interface AgentsMethods {
  /** List agents. `GET /v1/agents` */
  list(query?: Query<'listAgents'>, options?: RequestOptions): Listing<'listAgents'>;
  /** Create an agent. `POST /v1/agents` */
  create(body: Body<'createAgent'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createAgent'>;
  /** Read an agent. `GET /v1/agents/{agentId}` */
  get(agentId: string, options?: RequestOptions): Answer<'getAgent'>;
  /** Change an agent. `PATCH /v1/agents/{agentId}` */
  update(agentId: string, body: Body<'updateAgent'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateAgent'>;
  /** Delete an agent. `DELETE /v1/agents/{agentId}` */
  delete(agentId: string, options?: RequestOptions): Answer<'deleteAgent'>;
  /** Try to reach an agent. `POST /v1/agents/{agentId}/test` */
  test(agentId: string, options?: RequestOptions): Answer<'testAgent'>;
  /** Talk to an agent without a carrier. `POST /v1/agents/{agentId}/talk` */
  talkTo(agentId: string, body: Body<'talkToAgent'>, options?: RequestOptions): Answer<'talkToAgent'>;
}

export interface SoundsMethods {
  /** List sounds. `GET /v1/sounds` */
  list(query?: Query<'listSounds'>, options?: RequestOptions): Listing<'listSounds'>;
  /** Upload a sound. `POST /v1/sounds` */
  create(file: File | NamedFile, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createSound'>;
  /** Read a sound. `GET /v1/sounds/{soundId}` */
  get(soundId: string, options?: RequestOptions): Answer<'getSound'>;
  /** Delete a sound. `DELETE /v1/sounds/{soundId}` */
  delete(soundId: string, options?: RequestOptions): Answer<'deleteSound'>;
}

export interface WebhooksMethods {
  /** List webhook endpoints. `GET /v1/webhooks` */
  list(query?: Query<'listWebhooks'>, options?: RequestOptions): Listing<'listWebhooks'>;
  /** Create a webhook endpoint. `POST /v1/webhooks` */
  create(body: Body<'createWebhook'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'createWebhook'>;
  /** Read a webhook endpoint. `GET /v1/webhooks/{webhookId}` */
  get(webhookId: string, options?: RequestOptions): Answer<'getWebhook'>;
  /** Change a webhook endpoint. `PATCH /v1/webhooks/{webhookId}` */
  update(webhookId: string, body: Body<'updateWebhook'>, options?: RequestOptions & { ifMatch?: string }): Answer<'updateWebhook'>;
  /** Delete a webhook endpoint. `DELETE /v1/webhooks/{webhookId}` */
  delete(webhookId: string, options?: RequestOptions): Answer<'deleteWebhook'>;
  /** Rotate the secret of a webhook endpoint. `POST /v1/webhooks/{webhookId}/rotate-secret` */
  rotateSecret(webhookId: string, options?: RequestOptions & { idempotencyKey?: string }): Answer<'rotateWebhookSecret'>;
  /** Send a test event to a webhook endpoint. `POST /v1/webhooks/{webhookId}/test` */
  test(webhookId: string, options?: RequestOptions): Answer<'testWebhook'>;
  /** List the deliveries of a webhook endpoint. `GET /v1/webhooks/{webhookId}/deliveries` */
  listDeliveries(webhookId: string, query?: Query<'listWebhookDeliveries'>, options?: RequestOptions): Listing<'listWebhookDeliveries'>;
  /** Send an event again. `POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay` */
  replayDelivery(webhookId: string, deliveryId: string, options?: RequestOptions & { idempotencyKey?: string }): Answer<'replayWebhookDelivery'>;
}

export interface BatchesMethods {
  /** List batches. `GET /v1/calls/batch` */
  list(query?: Query<'listBatches'>, options?: RequestOptions): Listing<'listBatches'>;
  /** Start a batch. `POST /v1/calls/batch` */
  start(body: Body<'startBatch'> & NotBoth<'callingWindows', 'scheduleStart' | 'scheduleEnd'>, options?: RequestOptions & { idempotencyKey?: string }): Answer<'startBatch'>;
  /** Read a batch. `GET /v1/calls/batch/{batchId}` */
  get(batchId: string, options?: RequestOptions): Answer<'getBatch'>;
  /** Delete a batch. `DELETE /v1/calls/batch/{batchId}` */
  delete(batchId: string, options?: RequestOptions): Answer<'deleteBatch'>;
  /** List the recipients of a batch. `GET /v1/calls/batch/{batchId}/recipients` */
  listRecipients(batchId: string, query?: Query<'listBatchRecipients'>, options?: RequestOptions): Listing<'listBatchRecipients'>;
  /** Pause a batch. `POST /v1/calls/batch/{batchId}/pause` */
  pause(batchId: string, options?: RequestOptions): Answer<'pauseBatch'>;
  /** Resume a batch. `POST /v1/calls/batch/{batchId}/resume` */
  resume(batchId: string, options?: RequestOptions): Answer<'resumeBatch'>;
  /** Cancel a batch. `POST /v1/calls/batch/{batchId}/cancel` */
  cancel(batchId: string, options?: RequestOptions): Answer<'cancelBatch'>;
}

/** The operations of the service, by what they are about. */
export interface Methods {
  doNotCall: DoNotCallMethods;
  search: SearchMethods;
  people: PeopleMethods;
  contactLists: ContactListsMethods;
  phoneNumbers: PhoneNumbersMethods;
  providers: ProvidersMethods;
  trunks: TrunksMethods;
  operator: OperatorMethods;
  workspace: WorkspaceMethods;
  knowledgeBases: KnowledgeBasesMethods;
  campaigns: CampaignsMethods;
  calls: CallsMethods;
  exports: ExportsMethods;
  erasures: ErasuresMethods;
  numberPools: NumberPoolsMethods;
  apiKeys: ApiKeysMethods;
  members: MembersMethods;
  sessions: SessionsMethods;
  events: EventsMethods;
  auditLog: AuditLogMethods;
  workflows: WorkflowsMethods;
  workflowRuns: WorkflowRunsMethods;
  agents: AgentsMethods;
  sounds: SoundsMethods;
  webhooks: WebhooksMethods;
  batches: BatchesMethods;
}

/**
 * Of each group what its paths begin with after /v1, where + is the group's name, and then its operations: the method's
 * name and a colon, if it isn't the usual one, its verb (Get, Post, pUt, pAtch, Delete), how its arguments are sent (body,
 * files, query, listing, stream; k: it takes an Idempotency-Key), and the rest of its path, where * is an argument, and ^
 * goes up by one part. ! is all that is usual: Gl Pbk G* Ab* D*.
 */
export const methods: { [Group in keyof Methods]: string } = {
  doNotCall:
    '/calls+ Gl add:Pb remove:Dq*',
  search:
    '+ search:Gq',
  people:
    '+ get:Gq*',
  contactLists:
    '/calls+ ! Gl*/entries addEntries:Pbk*/entries getEntry:G*/entries* updateEntry:Ab*/entries* removeEntry:D*/entries* Gl*/uploads createUpload:Pbk*/uploads getUpload:G*/uploads* updateUpload:Ab*/uploads* previewUpload:G*/uploads*/preview Gl*/uploads*/rejected-rows mendRejectedRow:Ab*/uploads*/rejected-rows* streamUploadEvents:Gs*/uploads*/events confirmUpload:P*/uploads*/confirm',
  phoneNumbers:
    '/telephony+ Gl searchAvailable:Gq^/available-phone-numbers Pbk/buy import:Pbk/import/manual G* Ab* release:D* startTestCall:Pbk*/test-call getTestCall:G^/test-calls*',
  providers:
    '/telephony+ list:G G* saveAccount:Ub* deleteAccount:D*',
  trunks:
    '/telephony+ ! G*/validate P*/pause P*/resume',
  operator:
    '/operator/status getStatus:G',
  workspace:
    '+ get:G update:Ab P/pause-dialing P/resume-dialing Pk/rotate-inbound-secret',
  knowledgeBases:
    '+ ! addDocuments:Pfk*/documents getDocument:G*/documents* deleteDocument:D*/documents* Pb*/search',
  campaigns:
    '/calls+ ! Pq*/start P*/pause P*/resume P*/stop P*/unschedule P*/cancel Pb*/preview Gl*/contacts redialContacts:Pbk*/contacts/redial skipContact:P*/contacts*/skip getStats:G*/stats streamEvents:Gs*/events',
  calls:
    '+ getStats:Gq/stats G* P*/end sendDtmf:Pbk*/dtmf getDtmf:G*/dtmf* Pbk*/transfer getTransfer:G*/transfer* getSip:G*/sip listenTo:P*/listen deleteRecording:D*/recording getRecordingPeaks:Gq*/recording/peaks recordResult:Pb*/result Gl Pbk',
  exports:
    '+ Gl Pbk G* D*',
  erasures:
    '+ Gl Pbk G*',
  numberPools:
    '+ ! Gl*/members moveMember:Pb*/members/move G*/validate-trunks',
  apiKeys:
    '+ Gl Pbk revoke:D* createStreamToken:Pbk^/stream-tokens',
  members:
    '+ !',
  sessions:
    '+ startSignIn:P^/sign-ins Gl Pb revoke:D* getCurrent:G^/session endCurrent:D^/session',
  events:
    '+ list:Gq Gs/stream',
  auditLog:
    '+ Gl',
  workflows:
    '+ Gl Pbk G* replaceDraft:Ub* D* P*/publish Gl*/versions startRun:Pb*/run Gl*/runs wakeRuns:Pb*/runs/wake getRun:G*/runs* streamRunEvents:Gs*/runs*/events cancelRun:P*/runs*/cancel',
  workflowRuns:
    '+ listRuns:Gl getRun:G* streamRunEvents:Gs*/events cancelRun:P*/cancel',
  agents:
    '+ ! P*/test talkTo:Pb*/talk',
  sounds:
    '+ Gl create:Pfk G* D*',
  webhooks:
    '+ ! Pk*/rotate-secret P*/test Gl*/deliveries replayDelivery:Pk*/deliveries*/replay',
  batches:
    '/calls/batch Gl start:Pbk G* D* Gl*/recipients P*/pause P*/resume P*/cancel',
};
