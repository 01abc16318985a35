// SPDX-License-Identifier: Apache-2.0
// Calls for init, devices, contexts, memory and errors.
#include "aclnn/aclnn_base.h"
#include "runtime_world.h"

namespace mlmargin::fuzz {
namespace {

int32_t DeviceId(Actor& a) { return a.Of({0, 0, 0, 0, -1, 1, INT32_MAX}); }
size_t Size(Actor& a) { return a.Of<size_t>({kBlockBytes, 1, 64, 0, kBlockBytes + 1, SIZE_MAX}); }

aclrtMemMallocPolicy Policy(Actor& a) {
  const int more = a.Of({0, 0, 0, 0x100, 0x1000, 0x100000});
  return static_cast<aclrtMemMallocPolicy>(more | static_cast<int>(a.Below(9)));
}

bool MayEnd(const Actor& a) { return a.world.calm && a.world.resets; }

// Deprecated ones are in service.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

const Operation kOperations[] = {
    {"aclInit",
     [](Actor& a) {
       return aclInit(a.Of<const char*>({nullptr, "", "/no/such"}));
     },
     {100002, 100003}},
    {"aclFinalize", [](Actor& a) { return MayEnd(a) ? aclFinalize() : kNotCalled; }, {100037}},
    {"aclFinalizeReference",
     [](Actor& a) {
       uint64_t count = 0;
       return MayEnd(a) ? aclFinalizeReference(a.Of<uint64_t*>({&count, nullptr})) : kNotCalled;
     },
     {100037}},
    {"aclnnInit", [](Actor&) { return aclnnInit(nullptr); }, {100002}},
    {"aclnnFinalize", [](Actor& a) { return MayEnd(a) ? aclnnFinalize() : kNotCalled; }, {100037}},
    {"aclrtGetVersion",
     [](Actor&) {
       int32_t numbers[3];
       return aclrtGetVersion(&numbers[0], &numbers[1], &numbers[2]);
     },
     {}},
    {"aclGetRecentErrMsg", [](Actor&) { return aclGetRecentErrMsg() == nullptr ? 0 : 0; }, {}},
    {"aclrtGetLastError of another level",
     [](Actor& a) {
       const auto level = a.Number<aclrtLastErrLevel>(0);
       return level == ACL_RT_THREAD_LEVEL ? kNotCalled : aclrtGetLastError(level);
     },
     {}},
    // ---- Devices and contexts ----
    {"aclrtSetDevice", [](Actor& a) { return aclrtSetDevice(DeviceId(a)); }, {100001, 107001}},
    {"aclrtResetDevice",
     [](Actor& a) { return MayEnd(a) ? aclrtResetDevice(DeviceId(a)) : kNotCalled; },
     {107001, 507007}},
    {"aclrtResetDeviceForce",
     [](Actor& a) { return a.world.resets ? aclrtResetDeviceForce(DeviceId(a)) : kNotCalled; },
     {107001, 507007}},
    {"aclrtGetDevice",
     [](Actor& a) {
       int32_t id = 0;
       return aclrtGetDevice(a.Of<int32_t*>({&id, nullptr}));
     },
     {}},
    {"aclrtQueryDeviceStatus",
     [](Actor& a) {
       aclrtDeviceStatus status;
       return aclrtQueryDeviceStatus(DeviceId(a), &status);
     },
     {107001}},
    {"aclrtGetDeviceInfo",
     [](Actor& a) {
       int64_t value = 0;
       return aclrtGetDeviceInfo(static_cast<uint32_t>(DeviceId(a)), a.Number<aclrtDevAttr>(602),
                                 &value);
     },
     {107001, 207000}},
    {"aclrtCreateContext",
     [](Actor& a) {
       return a.Keep(a.world.contexts,
                     [&](void** made) { return aclrtCreateContext(made, DeviceId(a)); });
     },
     {100001, 107001}},
    {"aclrtDestroyContext",
     [](Actor& a) {
       return a.world.calm ? aclrtDestroyContext(a.Handle(a.world.contexts)) : kNotCalled;
     },
     {}},
    {"aclrtSetCurrentContext",
     [](Actor& a) { return aclrtSetCurrentContext(a.Handle(a.world.contexts)); },
     {}},
    {"aclrtGetCurrentContext",
     [](Actor& a) { return a.Keep(a.world.contexts, aclrtGetCurrentContext); },
     {}},
    {"aclrtGetPrimaryCtxState",
     [](Actor& a) {
       int32_t active = 0;
       return aclrtGetPrimaryCtxState(DeviceId(a), nullptr, &active);
     },
     {107001}},
    {"aclrtSetSysParamOpt",
     [](Actor& a) {
       return aclrtSetSysParamOpt(a.Number<aclSysParamOpt>(3), a.Of<int64_t>({0, 1, 3, 4, -1}));
     },
     {}},
    {"aclrtCtxSetSysParamOpt",
     [](Actor& a) {
       return aclrtCtxSetSysParamOpt(a.Number<aclSysParamOpt>(3), a.Of<int64_t>({0, 1, 3, 4, -1}));
     },
     {}},
    {"aclrtCtxGetSysParamOpt",
     [](Actor& a) {
       int64_t value = 0;
       return aclrtCtxGetSysParamOpt(a.Number<aclSysParamOpt>(3), &value);
     },
     {107021}},
    // ---- Memory ----
    {"aclrtMalloc",
     [](Actor& a) {
       return a.Keep(a.world.blocks,
                     [&](void** made) { return aclrtMalloc(made, Size(a), Policy(a)); });
     },
     {207000}},
    {"aclrtMallocCached",
     [](Actor& a) {
       return a.Keep(a.world.blocks,
                     [&](void** made) { return aclrtMallocCached(made, Size(a), Policy(a)); });
     },
     {}},
    {"aclrtFree", [](Actor& a) { return aclrtFree(a.Device()); }, {}},
    {"aclrtFreeHost",
     [](Actor& a) {
       return aclrtFreeHost(a.Of<void*>({nullptr, a.ordinary}));
     },
     {}},
    {"aclrtGetMemInfo",
     [](Actor& a) {
       size_t free = 0, total = 0;
       return aclrtGetMemInfo(a.Number<aclrtMemAttr>(17), &free, &total);
     },
     {}},
    {"aclrtHostRegister",
     [](Actor& a) {
       void* device = nullptr;
       const auto type = static_cast<aclrtHostRegisterType>(a.Of({0, 0, 8, 77}));
       return aclrtHostRegister(a.ordinary + a.Of({0, 0, 1}), a.Of<uint64_t>({kBlockBytes / 2, 0}),
                                type, &device);
     },
     {207000, 507910}},
    {"aclrtHostUnregister",
     [](Actor& a) {
       return aclrtHostUnregister(a.Of<void*>({a.ordinary, nullptr}));
     },
     {507911}},
    {"aclrtHostGetDevicePointer",
     [](Actor& a) {
       void* device = nullptr;
       return aclrtHostGetDevicePointer(a.ordinary + a.Of({0, 5}), &device, a.Of({0u, 0u, 1u}));
     },
     {507911}},
    {"aclrtMemFlush", [](Actor& a) { return aclrtMemFlush(a.Device(), Size(a)); }, {}},
    {"aclrtPointerGetAttributes",
     [](Actor& a) {
       aclrtPtrAttributes attributes;
       return aclrtPointerGetAttributes(a.Device(), &attributes);
     },
     {}},
    {"aclrtMemcpy to the device",
     [](Actor& a) {
       return aclrtMemcpy(a.Device(), kBlockBytes, a.Host(), a.Of<size_t>({0, 1, kBlockBytes}),
                          ACL_MEMCPY_HOST_TO_DEVICE);
     },
     {}},
    {"aclrtMemcpy from the device",
     [](Actor& a) {
       return aclrtMemcpy(a.Host(), kBlockBytes, a.Device(), a.Of<size_t>({0, 1, kBlockBytes}),
                          ACL_MEMCPY_DEVICE_TO_HOST);
     },
     {}},
    {"aclrtMemcpy on the host",
     [](Actor& a) {
       return aclrtMemcpy(
           a.ordinary, kBlockBytes, a.world.pinned[0],
           a.Of<size_t>({1, kBlockBytes, kBlockBytes + 1}),
           a.Of({ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE}));
     },
     {}},
    {"aclrtMemcpy2d",
     [](Actor& a) {
       return aclrtMemcpy2d(a.Device(), a.Of<size_t>({64, 8, SIZE_MAX}), a.Host(), 64,
                            a.Of<size_t>({8, 0, 64, 65}), a.Of<size_t>({4, 0, 64, SIZE_MAX}),
                            a.Of({ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_DEVICE}));
     },
     {}},
    {"aclrtMemset",
     [](Actor& a) {
       return aclrtMemset(a.Of<void*>({a.ordinary, a.world.pinned[1]}), kBlockBytes, 7,
                          a.Of<size_t>({1, kBlockBytes, kBlockBytes + 1}));
     },
     {}},
};

#pragma GCC diagnostic pop

}  // namespace

std::span<const Operation> ResourceOperations() { return kOperations; }

}  // namespace mlmargin::fuzz
