"""Which keys systemd.unit(5) and systemd.service(5) know, and in which section: version 252, and what came since."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNIT = _names(
    """
    After AllowIsolate AssertACPower AssertArchitecture AssertCPUFeature AssertCPUPressure AssertCPUs
    AssertCapability AssertControlGroupController AssertCredential AssertDirectoryNotEmpty AssertEnvironment
    AssertFileIsExecutable AssertFileNotEmpty AssertFirstBoot AssertGroup AssertHost AssertIOPressure
    AssertKernelCommandLine AssertKernelModuleLoaded AssertKernelVersion AssertMemory AssertMemoryPressure
    AssertNeedsUpdate AssertOSRelease AssertPathExists AssertPathExistsGlob AssertPathIsDirectory
    AssertPathIsEncrypted AssertPathIsMountPoint AssertPathIsReadWrite AssertPathIsSymbolicLink AssertSecurity
    AssertUser AssertVersion AssertVirtualization Before BindTo BindsTo CollectMode ConditionACPower
    ConditionArchitecture ConditionCPUFeature ConditionCPUPressure ConditionCPUs ConditionCapability
    ConditionControlGroupController ConditionCredential ConditionDirectoryNotEmpty ConditionEnvironment
    ConditionFileIsExecutable ConditionFileNotEmpty ConditionFirmware ConditionFirstBoot ConditionGroup
    ConditionHost ConditionIOPressure ConditionKernelCommandLine ConditionKernelModuleLoaded
    ConditionKernelVersion ConditionMemory ConditionMemoryPressure ConditionNeedsUpdate ConditionOSRelease
    ConditionPathExists ConditionPathExistsGlob ConditionPathIsDirectory ConditionPathIsEncrypted
    ConditionPathIsMountPoint ConditionPathIsReadWrite ConditionPathIsSymbolicLink ConditionSecurity
    ConditionUser ConditionVersion ConditionVirtualization Conflicts DefaultDependencies Description
    Documentation FailureAction FailureActionExitStatus IgnoreOnIsolate JobRunningTimeoutSec JobTimeoutAction
    JobTimeoutRebootArgument JobTimeoutSec JoinsNamespaceOf OnFailure OnFailureIsolate OnFailureJobMode
    OnSuccess OnSuccessJobMode PartOf PropagateReloadFrom PropagateReloadTo PropagatesReloadTo PropagatesStopTo
    RebootArgument RefuseManualStart RefuseManualStop ReloadPropagatedFrom Requires RequiresMountsFor
    RequiresOverridable Requisite RequisiteOverridable SourcePath StartLimitAction StartLimitBurst
    StartLimitInterval StartLimitIntervalSec StopPropagatedFrom StopWhenUnneeded SuccessAction
    SuccessActionExitStatus Upholds Wants
    """
)
SERVICE = _names(
    """
    AllowedCPUs AllowedMemoryNodes AmbientCapabilities AppArmorProfile BPFProgram BindLogSockets BindPaths
    BindReadOnlyPaths BlockIOAccounting BlockIODeviceWeight BlockIOReadBandwidth BlockIOWeight
    BlockIOWriteBandwidth BusName CPUAccounting CPUAffinity CPUQuota CPUQuotaPeriodSec CPUSchedulingPolicy
    CPUSchedulingPriority CPUSchedulingResetOnFork CPUShares CPUWeight CacheDirectory CacheDirectoryMode
    CapabilityBoundingSet ConfigurationDirectory ConfigurationDirectoryMode CoredumpFilter CoredumpReceive
    DefaultMemoryLow DefaultMemoryMin Delegate DelegateNamespaces DelegateSubgroup DeviceAllow DevicePolicy
    DisableControllers DynamicUser Environment EnvironmentFile ExecCondition ExecPaths ExecReload ExecSearchPath
    ExecStart ExecStartPost ExecStartPre ExecStop ExecStopPost ExitType ExtensionDirectories
    ExtensionImagePolicy ExtensionImages FailureAction FileDescriptorStoreMax FileDescriptorStorePreserve
    FinalKillSignal Group GuessMainPID IOAccounting IODeviceLatencyTargetSec IODeviceWeight IOReadBandwidthMax
    IOReadIOPSMax IOSchedulingClass IOSchedulingPriority IOWeight IOWriteBandwidthMax IOWriteIOPSMax
    IPAccounting IPAddressAllow IPAddressDeny IPCNamespacePath IPEgressFilterPath IPIngressFilterPath
    IgnoreSIGPIPE ImportCredential InaccessibleDirectories InaccessiblePaths KeyringMode KillMode KillSignal
    LimitAS LimitCORE LimitCPU LimitDATA LimitFSIZE LimitLOCKS LimitMEMLOCK LimitMSGQUEUE LimitNICE LimitNOFILE
    LimitNPROC LimitRSS LimitRTPRIO LimitRTTIME LimitSIGPENDING LimitSTACK LoadCredential
    LoadCredentialEncrypted LockPersonality LogExtraFields LogFilterPatterns LogLevelMax LogNamespace
    LogRateLimitBurst LogRateLimitIntervalSec LogsDirectory LogsDirectoryMode ManagedOOMMemoryPressure
    ManagedOOMMemoryPressureLimit ManagedOOMPreference ManagedOOMSwap MemoryAccounting MemoryDenyWriteExecute
    MemoryHigh MemoryLimit MemoryLow MemoryMax MemoryMin MemoryPressureThresholdSec MemoryPressureWatch
    MemorySwapMax MemoryZSwapMax MemoryZSwapWriteback MountAPIVFS MountFlags MountImagePolicy MountImages NFTSet
    NUMAMask NUMAPolicy NetworkNamespacePath Nice NoExecPaths NoNewPrivileges NonBlocking NotifyAccess OOMPolicy
    OOMScoreAdjust OpenFile PAMName PIDFile PassEnvironment PermissionsStartOnly Personality PrivateDevices
    PrivateIPC PrivateMounts PrivateNetwork PrivatePIDs PrivateTmp PrivateUsers ProcSubset ProtectClock
    ProtectControlGroups ProtectHome ProtectHostname ProtectKernelLogs ProtectKernelModules
    ProtectKernelTunables ProtectProc ProtectSystem ReadOnlyDirectories ReadOnlyPaths ReadWriteDirectories
    ReadWritePaths RebootArgument RefreshOnReload ReloadSignal RemainAfterExit RemoveIPC Restart
    RestartForceExitStatus RestartKillSignal RestartMaxDelaySec RestartMode RestartPreventExitStatus RestartSec
    RestartSteps RestrictAddressFamilies RestrictFileSystems RestrictNamespaces RestrictNetworkInterfaces
    RestrictRealtime RestrictSUIDSGID RootDirectory RootDirectoryStartOnly RootEphemeral RootHash
    RootHashSignature RootImage RootImageOptions RootImagePolicy RootVerity RuntimeDirectory
    RuntimeDirectoryMode RuntimeDirectoryPreserve RuntimeMaxSec RuntimeRandomizedExtraSec SELinuxContext
    SecureBits SendSIGHUP SendSIGKILL SetCredential SetCredentialEncrypted SetLoginEnvironment Slice
    SmackProcessLabel SocketBindAllow SocketBindDeny Sockets StandardError StandardInput StandardInputData
    StandardInputText StandardOutput StartLimitAction StartLimitBurst StartLimitInterval StartupAllowedCPUs
    StartupAllowedMemoryNodes StartupBlockIOWeight StartupCPUShares StartupCPUWeight StartupIOWeight
    StartupMemoryHigh StartupMemoryMax StateDirectory StateDirectoryMode SuccessExitStatus SupplementaryGroups
    SurviveFinalKillSignal SyslogFacility SyslogIdentifier SyslogLevel SyslogLevelPrefix SystemCallArchitectures
    SystemCallErrorNumber SystemCallFilter SystemCallLog TTYColumns TTYPath TTYReset TTYRows TTYVHangup
    TTYVTDisallocate TasksAccounting TasksMax TemporaryFileSystem TimeoutAbortSec TimeoutCleanSec TimeoutSec
    TimeoutStartFailureMode TimeoutStartSec TimeoutStopFailureMode TimeoutStopSec TimerSlackNSec Type UMask
    USBFunctionDescriptors USBFunctionStrings UnsetEnvironment User UtmpIdentifier UtmpMode WatchdogSec
    WatchdogSignal WorkingDirectory
    """
)
INSTALL = _names(
    """
    Alias Also DefaultInstance RequiredBy WantedBy
    """
)
SECTIONS = {"Unit": UNIT, "Service": SERVICE, "Install": INSTALL}
